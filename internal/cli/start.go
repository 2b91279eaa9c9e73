package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/stop"
)

// StartOptions has the flags of every start of an agent.
type StartOptions struct {
	CommonFlags
	permissions, Output        string
	timeout, maxTime           time.Duration
	killOnTimeout, force, Wait bool
	onCreate, onComplete       string
}

// idTimeout is how long a launch waits for the proof of its session: many times what the slowest agent takes.
const idTimeout = time.Minute

// Flags returns the flags of every start.
func (o *StartOptions) Flags() []cli.Flag {
	o.timeout = idTimeout
	return []cli.Flag{
		&cli.StringFlag{Name: "permissions", Usage: "what the agent may do without asking: `P` is own (as its configuration says), edit or full", Destination: &o.permissions},
		&cli.StringFlag{Name: "output", Usage: "append what the agent prints to `FILE` (default: discarded)", Destination: &o.Output},
		DurationFlag("timeout", "how long to wait for the session to appear: `D`", &o.timeout),
		&cli.BoolFlag{Name: "kill-on-timeout", Usage: "end the agent if its session does not appear in time", Destination: &o.killOnTimeout},
		&cli.BoolFlag{Name: "force", Usage: "start even if another session is working here", Destination: &o.force},
		&cli.BoolFlag{Name: "wait", Usage: "wait until the turn ends and print its answer; exit with its result", Destination: &o.Wait},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the ID only: no answer, no hints", Destination: &o.Quiet},
		LimitFlag("max-time", "with --wait: stop the session after `D`", &o.maxTime),
		&cli.StringFlag{Name: "on-create", Usage: "run the shell command `S` once the session has appeared", Destination: &o.onCreate},
		&cli.StringFlag{Name: "on-complete", Usage: "with --wait: run the shell command `S` when the turn has ended", Destination: &o.onComplete},
		JSONFlag(&o.JSON),
	}
}

// Check refuses flags that do not go together. For this machine, it also refuses those that name a directory that does not exist, or a file
// below an agent's home; a host checks its own.
func (o *StartOptions) Check(ctx context.Context, c *Call, verb string, onHost bool) error {
	if o.Output != "" && !onHost {
		if err := CheckDirectory(filepath.Dir(o.Output)); err != nil {
			return UsageError(verb, "--output: %v", err)
		}
		if store, err := storeAround(ctx, c, o.Output, nil); err != nil {
			return err
		} else if store != "" {
			return UsageError(verb, "--output: %s is below %s, where an agent stores its sessions", o.Output, store)
		}
	}
	switch {
	case !o.Wait && o.maxTime > 0:
		return UsageError(verb, "--max-time needs --wait")
	case !o.Wait && o.onComplete != "":
		return UsageError(verb, "--on-complete needs --wait")
	}
	return nil
}

// Adapter returns the adapter of the agent with that name, an error if the agent cannot be launched.
func Adapter(env Env, name string) (launch.Adapter, error) {
	chosen, err := env.ChosenAgents([]string{name})
	if err != nil {
		return nil, err
	}
	return launch.AdapterOf(env.Adapters, chosen[0]), nil
}

func (o *StartOptions) Permitted(verb string) (launch.Permissions, error) {
	p := cmp.Or(launch.Permissions(o.permissions), launch.PermissionsOwn)
	if !slices.Contains([]launch.Permissions{launch.PermissionsOwn, launch.PermissionsEdit, launch.PermissionsFull}, p) {
		return "", UsageError(verb, "--permissions must be own, edit or full, not %q", o.permissions)
	}
	return p, nil
}

// Variables returns the variables of --env and --group for the agent's environment.
func Variables(pairs []string, group string) ([]string, error) {
	var out []string
	if group != "" {
		out = append(out, discover.GroupEnv+"="+group)
	}
	for _, pair := range pairs {
		key, _, ok := strings.Cut(pair, "=")
		if !ok || key == "" || strings.ContainsRune(pair, 0) {
			return nil, UsageError("launch", "--env %q is not KEY=VALUE", pair)
		}
		out = append(out, pair)
	}
	return out, nil
}

// Starter starts agents as the flags of a command line say.
type Starter struct {
	*Call
	*StartOptions
}

// Launched is an agent that was started, and what is known of its session.
type Launched struct {
	*Call // its scanner finds the agent's homes
	*StartOptions
	*launch.Verification
	execution *launch.Execution
	name      discover.Agent
}

// StartOne starts an agent, on this machine by start, or by the call on a host. It prints the session: the ID once it is proven; at the end the object
// with --json, or the answer with --wait.
func (s Starter) StartOne(
	ctx context.Context, calls []HostCall, start func(ctx context.Context, proven func(object.Session) error) (*Launched, error),
) error {
	arrived := 0
	var first object.Session
	failed := Each(ctx, s.Call, calls, "waiting for the session on", func(ctx context.Context, take func(object.Session) error) error {
		launched, err := start(ctx, take)
		if launched == nil {
			return err
		}
		defer launched.Close()
		s.PrintHints(ctx, launched)
		return launched.end(ctx, err, take)
	}, func(obj object.Session) (err error) {
		arrived++
		answer := strings.TrimRight(render.SanitizeLines(obj.Answer), "\n")
		switch {
		case s.JSON && s.Remote: // who asks is to know it before the connection may end
			err = render.JSONLine(s.Stdout, obj)
		case s.JSON && arrived > 1:
			err = render.JSON(s.Stdout, obj)
		case s.JSON:
			first = obj
		case arrived == 1:
			_, err = fmt.Fprintln(s.Stdout, render.Sanitize(obj.Name()))
		case s.Wait && !s.StartOptions.Quiet && answer != "":
			_, err = fmt.Fprintln(s.Stdout, answer)
		}
		return err
	})
	if arrived == 1 && s.JSON && !s.Remote && !errors.Is(failed, context.Canceled) {
		return cmp.Or(render.JSON(s.Stdout, first), failed)
	}
	return failed
}

// Plan makes the plan of a launch, and warns of what it found. After an error nothing is locked.
func (s Starter) Plan(ctx context.Context, adapter launch.Adapter, r launch.Request) (*launch.Plan, error) {
	l := launch.Planner{Scanner: s.Scanner, Getenv: s.Getenv, Environ: s.Environ, Now: s.Now, Strict: s.Config.Strict, Force: s.force}
	plan, err := l.Plan(ctx, adapter, r)
	if plan.Conflicts != nil {
		_ = s.WarnIfBlind(plan.Activity) // the proof of the session will fail, and say why
	}
	if plan.UnreadLocks != nil {
		s.Warn(plan.UnreadLocks.Error())
	}
	if err == nil && plan.Conflicts != nil {
		s.WarnOfIdle(plan.Conflicts)
	}
	return plan, refusal(err)
}

// Start starts an agent, waits for the proof of its session, runs --on-create, and watches whether the agent fails at
// once. proven is called when the session is proven; it may be nil. Start returns nil if nothing was started. With an error, the
// result may be non-nil: then the agent was started.
func (s Starter) Start(ctx context.Context, adapter launch.Adapter, r launch.Request, proven func(object.Session) error) (*Launched, error) {
	l, err := s.startAndProve(ctx, adapter, r)
	if l == nil {
		return nil, err
	}
	if l.Proven && proven != nil {
		err = errors.Join(err, proven(object.NewSession(l.Session)))
	}
	if err == nil {
		err = Script{Flag: "--on-create", Command: s.onCreate}.Run(ctx, s.Env, l.Session, nil)
	}
	if err == nil {
		err = l.AwaitTurn(ctx)
	}
	if err != nil && l.Session.ID != "" { // it has changed since its proof
		l.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{Full: true, Tokens: true})
	}
	return l, l.explain(err)
}

// startAndProve plans and executes a launch, and waits for the proof of its session.
func (s Starter) startAndProve(ctx context.Context, adapter launch.Adapter, r launch.Request) (*Launched, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	plan, err := s.Plan(limited, adapter, r)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, TimeoutError(fmt.Sprintf("nothing was started: within %s it was not known whether another session is in the way", s.timeout), "")
	}
	if err != nil {
		return nil, err
	}
	defer plan.Release()
	execution, err := plan.Execute(s.Output)
	if err != nil {
		return nil, err
	}
	call := *s.Call // it searches the homes that the agent's environment names
	call.Scanner = plan.Scanner
	l := &Launched{&call, s.StartOptions, execution.Verify(), execution, adapter.Name()}
	return l, l.AwaitSession(limited)
}

// Close lets go of the agent, which goes on.
func (l *Launched) Close() { l.execution.Close() }

// PrintHints prints the hints for what was started.
func (s Starter) PrintHints(ctx context.Context, launched ...*Launched) {
	for _, l := range launched {
		if hint := l.Hint(context.WithoutCancel(ctx)); hint != "" {
			s.Report.Hint(hint)
		}
	}
}

// refusal turns the error of a plan into one that names who is in the way, and says what to do.
func refusal(err error) error {
	occupied, live, possible := (*launch.OccupiedError)(nil), (*launch.LiveError)(nil), (*launch.PossiblyLiveError)(nil)
	switch {
	case errors.As(err, &occupied) && occupied.Flocked:
		return LocksErr(occupied.Locks, "wait for it")
	case errors.As(err, &occupied):
		return LocksErr(occupied.Locks, "wait for it, stop it, use a worktree of its own, or --force")
	case errors.As(err, &possible):
		message := fmt.Sprintf("%s may be open in %s, which works in its directory: nothing shows which session that runs", DescribeSession(possible.Session), possible.Process.ID)
		return ConflictError(message, "end that process, continue a copy (--fork), or --force")
	case errors.As(err, &live):
		s := live.Session
		hint := "wait for it, stop it, or continue a copy: --fork"
		switch {
		case len(s.Clients) > 0:
			hint = fmt.Sprintf("talk to it in its terminal (pid %d), stop it, or continue a copy: --fork", s.Clients[0].ID.PID)
		case s.Shared && s.Status == discover.Idle: // it does not go away when it is stopped
			hint = fmt.Sprintf("pid %d keeps it open: talk to it there, wait --until stopped, or continue a copy: --fork", s.Processes[0].ID.PID)
		}
		return ConflictError(fmt.Sprintf("%s is live (%s)", DescribeSession(s), s.Status), hint)
	}
	return err
}

// explain turns the error of a start into one that says whether the agent still runs; with --kill-on-timeout it kills
// the agent.
func (l *Launched) explain(err error) error {
	pid := l.execution.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrSessionTimeout) && l.killOnTimeout:
		return errors.Join(
			TimeoutError(fmt.Sprintf("the session of pid %d did not appear within %s; it was ended", pid, l.timeout), ""),
			l.execution.KillTree(context.Background()),
		)
	case errors.Is(err, launch.ErrSessionTimeout):
		return TimeoutError(
			fmt.Sprintf("the session of pid %d did not appear within %s; %s keeps running", pid, l.timeout, l.name),
			fmt.Sprintf("agentctl status pid:%d shows it once it is known; agentctl stop pid:%d ends it", pid, pid),
		)
	case errors.Is(err, context.Canceled):
		l.Report.Note(fmt.Sprintf("%s keeps running as pid %d", l.name, pid))
	}
	return err
}

// WithPrompt returns the call with the prompt on its stdin. The prompt is put together here: names of its files are relative to the current directory.
func (p *PromptOptions) WithPrompt(ctx context.Context, env Env, verb string, call HostCall) (HostCall, error) {
	prompt, err := p.Text(ctx, env, verb, ".")
	if err != nil {
		return call, err
	}
	call = call.WithoutFlags("prompt", "prompt-file", "spec", "file").WithFlags("--prompt=-")
	call.Stdin = []byte(prompt)
	return call, nil
}

// end waits for the end of the turn with --wait, and passes on the session as it is then. failed is the error of the start; nothing is waited for after
// one.
func (l *Launched) end(ctx context.Context, failed error, take func(object.Session) error) error {
	switch {
	case l.Session.ID == "" || !l.Wait && !(l.Proven && l.JSON) || l.Wait && errors.Is(failed, context.Canceled):
		return failed
	case !l.Wait:
		l.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{})
		return cmp.Or(take(object.NewSession(l.Session)), failed)
	}
	err := failed
	if failed == nil {
		err = l.WaitForEnd(ctx)
	}
	if errors.Is(err, context.Canceled) {
		l.Report.Note(fmt.Sprintf("%s keeps running; agentctl stop %s ends it", DescribeSession(l.Session), render.Sanitize(l.Session.ID)))
		return err
	}
	answer := ""
	if err == nil && !l.Quiet {
		answer = l.ReadAnswer(ctx)
	}
	if l.JSON {
		l.Refresh(ctx, discover.ReadOptions{Full: true, Tokens: true})
	}
	if l.JSON || answer != "" {
		obj := object.NewSession(l.Session)
		obj.Answer = answer
		if err := take(obj); err != nil {
			return err
		}
	}
	return errors.Join(err, l.RunOnComplete(ctx, err))
}

// WaitForEnd waits until the session has stopped and returns the error that it ended with.
func (l *Launched) WaitForEnd(ctx context.Context) error {
	err := Until(ctx, l.Call, []discover.Session{l.Session}, Stopped, l.maxTime, func(now discover.Session) error {
		l.Update(now)
		return nil
	})
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case ExitCode(err) == ExitTimeout:
		return l.stopOverdue(ctx)
	case endsSoon(l.execution): // the agent's own error says more than the storage, and decides where that does not know
		if own := l.Failure(ctx); own != nil || errors.Is(err, ErrPartial) {
			return own
		}
	}
	return err
}

// RunOnComplete runs the script of --on-complete. err is the error of the start or of the turn.
func (l *Launched) RunOnComplete(ctx context.Context, err error) error {
	code := exitCode(l.execution, err)
	return Script{Flag: "--on-complete", Command: l.onComplete}.Run(ctx, l.Env, l.Session, &code)
}

// endsSoon waits a moment for the process to end: a launcher ends soon after the agent that it has started.
func endsSoon(x *launch.Execution) bool {
	select {
	case <-x.Done():
		return true
	case <-time.After(GracePeriod):
		return false
	}
}

func (l *Launched) stopOverdue(ctx context.Context) error {
	working, done := l.StartWork(ctx, "stopping")
	defer done()
	results, err := stop.Sessions(working, l.Scanner, []discover.Session{l.Session}, stop.Options{
		Timeout: StopTimeout, Force: true, Host: launch.NewEnvironment(l.Environ, l.Adapters),
	})
	message := fmt.Sprintf("%s took longer than --max-time %s", DescribeSession(l.Session), l.maxTime)
	if err := errors.Join(err, StopError(results)); err != nil {
		return errors.Join(err, TimeoutError(message, ""))
	}
	return TimeoutError(message+"; it was stopped", "agentctl resume "+render.Sanitize(l.Session.ID)+" TEXT continues it")
}

// exitCode is the agent's exit code, as a shell counts it after a signal. While the agent lives it is the code that
// this command will end with.
func exitCode(x *launch.Execution, err error) int {
	if !x.HasEnded() {
		return ExitCode(err)
	}
	exit := x.ExitStatus()
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}

// ReadAnswer returns the last text of the assistant in the turn that was started, as stored; "" if there is none. An
// unreadable transcript is a warning.
func (l *Launched) ReadAnswer(ctx context.Context) string {
	text, err := answerIn(l.Scanner.Messages(ctx, l.Session), l.Session.ID, l.execution.StartTime)
	if err != nil {
		_ = l.ReportWarnings([]*discover.Warning{UnreadWarning(l.Session, err)})
	}
	return text
}

// answerIn returns the newest text of the assistant in a session's newest turn. messages come newest first. The turn
// begins with the newest prompt, and no message of it is older than since: not every prompt is stored as the user's
// text. If a part cannot be read before a text is found, the text could be an older one, so answerIn returns none.
func answerIn(messages iter.Seq2[discover.Message, error], session string, since time.Time) (string, error) {
	for m, err := range messages {
		if err != nil {
			return "", err
		}
		switch {
		case m.Session != session: // a sub-agent's
		case !m.Time.IsZero() && m.Time.Before(since), m.Kind == discover.KindInterruption:
			return "", nil
		case m.Kind != discover.KindText || strings.TrimSpace(m.Text) == "":
		case m.Role == discover.RoleUser:
			return "", nil
		case m.Role == discover.RoleAssistant:
			return m.Text, nil
		}
	}
	return "", nil
}
