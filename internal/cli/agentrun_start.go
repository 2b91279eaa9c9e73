// Package agentrun starts agents and reports what became of them: what the commands launch and resume share.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

// Starter starts agents as the flags of a command line say.
type Starter struct {
	*Call
	*Options
}

// Launched is an agent that was started, and what is known of its session.
type Launched struct {
	*Call // its scanner finds the agent's homes
	*Options
	*launch.Verification
	execution *launch.Execution
	name      discover.Agent
}

// StartOne calls start for one agent, and prints the agent's session once that is proven.
func (s Starter) StartOne(ctx context.Context, agent discover.Agent, start func(context.Context) (*Launched, error)) error {
	working, stop := Interruptible(ctx) // until the command ends, so that no signal is missed between two steps
	defer stop()
	endProgress := s.Progress("waiting for the session of " + string(agent))
	defer endProgress()
	launched, err := start(working)
	if launched == nil {
		return err
	}
	defer launched.Close()
	endProgress()
	s.PrintHints(ctx, launched)
	return launched.Print(working, err)
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
// once. If printID is set, it prints the ID when the session is proven. It returns nil if nothing was started. With an error, the
// result may be non-nil: then the agent was started.
func (s Starter) Start(ctx context.Context, adapter launch.Adapter, r launch.Request, printID bool) (*Launched, error) {
	l, err := s.startAndProve(ctx, adapter, r)
	if l == nil {
		return nil, err
	}
	switch {
	case !l.Proven || !printID:
	case !s.JSON:
		err = errors.Join(err, l.printID())
	case s.Asked: // who asks is to know it before the connection may end
		err = errors.Join(err, render.JSONLine(l.Stdout, object.NewSession(l.Session)))
	}
	if err == nil {
		err = Script{Flag: "--on-create", Command: s.onCreate}.Run(ctx, s.Factory, l.Session, nil)
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
	l := &Launched{&call, s.Options, execution.Verify(), execution, adapter.Name()}
	return l, l.AwaitSession(limited)
}

// Close lets go of the agent, which goes on.
func (l *Launched) Close() { l.execution.Close() }

// MayRun reports whether an agent may run after its start failed with err.
func MayRun(l *Launched, err error) bool {
	ended := (*launch.AgentFailedError)(nil)
	return l != nil && !errors.As(err, &ended)
}

// PrintHints prints the hints for what was started, without duplicates.
func (s Starter) PrintHints(ctx context.Context, launched ...*Launched) {
	var given []string
	for _, l := range launched {
		if hint := l.Hint(context.WithoutCancel(ctx)); hint != "" && !slices.Contains(given, hint) {
			s.Report.Hint(hint)
			given = append(given, hint)
		}
	}
}

// printID prints the ID, while progress goes on.
func (l *Launched) printID() error {
	defer l.Report.Pause()()
	_, err := fmt.Fprintln(l.Stdout, render.Sanitize(l.Session.ID))
	return err
}

// refusal turns the error of a plan into one that names who is in the way, and says what to do.
func refusal(err error) error {
	occupied, live := (*launch.OccupiedError)(nil), (*launch.LiveError)(nil)
	switch {
	case errors.As(err, &occupied) && occupied.Flocked:
		return LocksErr(occupied.Locks, "wait for it")
	case errors.As(err, &occupied):
		return LocksErr(occupied.Locks, "wait for it, stop it, use a worktree of its own, or --force")
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
func (o *PromptOptions) WithPrompt(ctx context.Context, f Factory, verb string, call HostCall) (HostCall, error) {
	prompt, err := o.Text(ctx, f, verb, ".")
	if err != nil {
		return call, err
	}
	call = call.Without("prompt", "p", "prompt-file", "spec", "file").With("--prompt=-")
	call.Stdin = []byte(prompt)
	return call, nil
}

// OnHost starts an agent on another machine. The session comes as soon as it is proven, and again as it is at the end.
func OnHost(ctx context.Context, c *Call, call HostCall, o *Options, endProgress func()) error {
	var last *object.Session
	err := EachHost(ctx, c.Factory, []HostCall{call}, func(obj object.Session) error {
		first := last == nil
		last = &obj
		if !first || o.JSON {
			return nil
		}
		defer c.Report.Pause()()
		_, err := fmt.Fprintln(c.Stdout, render.Sanitize(obj.Name()))
		return err
	})
	endProgress()
	switch {
	case last == nil:
	case o.JSON:
		if err := render.JSON(c.Stdout, *last); err != nil {
			return err
		}
	case o.Wait && !o.Quiet:
		if text := strings.TrimRight(render.SanitizeLines(last.Answer), "\n"); text != "" {
			if _, err := fmt.Fprintln(c.Stdout, text); err != nil {
				return err
			}
		}
	}
	return err
}
