// Package agentrun starts an agent and reports what became of it: what the commands launch and resume share.
package agentrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// Run is one agent that a command starts: the request, the process, and the result.
type Run struct {
	*cmdutil.Call
	*Options
	Agent   launch.Adapter
	Request launch.Request
	Vars    []string // added to the agent's environment
	group   string   // that the agent was started in

	// The row of the matrix, the name within the launch group, and the worktree; only launch sets them.
	Entry    config.MatrixRow
	Name     string
	Worktree worktree.CreateResult

	Child *launch.Child // nil: nothing was started
	watch *launch.Verifier
	// since is the time of the start; no message of the turn is older.
	since time.Time
	// Session is the session that was found, discover.UnknownSession before. proven: it is the agent's, and may be
	// printed.
	Session discover.Session
	proven  bool
	// hint is printed once the agent runs; "" if there is none.
	hint string
	// Err is what failed; Answer is the turn's answer.
	Err    error
	Answer string
}

// StartOne starts an agent, and prints its session once that is proven.
func StartOne(ctx context.Context, f cmdutil.Factory, r *Run) error {
	working, stop := cmdutil.Interruptible(ctx) // to the end: no signal is lost between two steps
	defer stop()
	endProgress := f.Progress("waiting for the session of " + string(r.Agent.Name()))
	defer endProgress()
	if r.Err = r.Start(working, true); r.Child == nil {
		return r.Err
	}
	defer r.Child.Close()
	endProgress()
	PrintHints(ctx, f, r)
	return r.Print(working)
}

// Start starts the agent, waits for the proof of its session, runs --on-create, and watches whether the agent fails at
// once. alone prints the ID as soon as it is proven: it does not change any more.
func (r *Run) Start(ctx context.Context, alone bool) error {
	err := r.begin(ctx)
	if r.Child == nil {
		return err
	}
	ended := (*launch.AgentFailedError)(nil)
	r.proven = err == nil || errors.As(err, &ended) && r.Session.ID != "" // it has left a session behind, be it that of a failure
	if r.proven && alone && !r.JSON {
		err = errors.Join(err, r.printID())
	}
	if err == nil {
		err = cmdutil.Script{Flag: "--on-create", Command: r.onCreate}.Run(ctx, r.Factory, r.Session, nil)
	}
	if err == nil {
		err = r.watch.AwaitTurn(ctx)
	}
	if err != nil && r.Session.ID != "" { // it has changed since its proof
		r.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{Full: true, Tokens: true})
	}
	return r.explain(err)
}

// begin starts the agent and waits for the proof of its session. It holds the worktree from the check for conflicts
// until the proof; from then on the session itself is the conflict for others.
func (r *Run) begin(ctx context.Context) error {
	r.Session = discover.UnknownSession()
	host := launch.NewEnvironment(r.Environ, r.Adapters, r.Vars...)
	// The agent looks for its home in its own environment, which --env may change.
	there := *r.Call
	there.Scanner = there.Factory.NewScanner(r.Homes)
	there.Scanner.HomeSources = func(a discover.Agent) discover.HomeSources {
		return discover.HomeSources{Getenv: host.Getenv, Configured: r.Homes[string(a)]}
	}
	r.Call = &there
	spec, err := launch.Plan(r.Agent, r.Request, host)
	if err != nil {
		return err
	}
	if err := cmdutil.CheckDirectory(spec.Dir); err != nil {
		return err
	}
	r.Request.Dir = spec.Dir // of a session that has moved, it is where the agent will find it
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	held, err := r.HoldWorktree(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return cmdutil.TimeoutError(fmt.Sprintf("nothing was started: within %s it was not known whether another session is in the way", r.timeout), "")
	}
	if err != nil {
		return err
	}
	r.since = time.Now().Truncate(time.Millisecond) // as precise as the agents store their times
	child, err := launch.Start(spec, host, r.Output)
	if err != nil {
		held.Release()
		return err
	}
	r.Child, r.hint, r.watch = child, spec.Hint, launch.NewVerifier(r.Scanner, r.Agent, child)
	session, err := r.watch.AwaitSession(limited)
	held.Release()
	r.group = host.Getenv(discover.GroupEnv)
	r.Session = r.withGroup(session)
	return err
}

// PrintHints prints the hints for what was started, without duplicates.
func PrintHints(ctx context.Context, f cmdutil.Factory, runs ...*Run) {
	var given []string
	for _, r := range runs {
		if r.Child == nil {
			continue
		}
		if hint := r.findHint(context.WithoutCancel(ctx)); hint != "" && !slices.Contains(given, hint) {
			f.Report.Hint(hint)
			given = append(given, hint)
		}
	}
}

// findHint returns what the user should know about how the agent was started, "" if nothing.
func (r *Run) findHint(ctx context.Context) string {
	h, ok := r.Agent.(launch.Hinter)
	if !ok || r.Session.ID == "" || r.Request.Permissions != launch.PermissionsOwn {
		return r.hint
	}
	r.Refresh(ctx, discover.ReadOptions{}) // what the turn may do is stored after the session has shown itself
	return cmp.Or(r.hint, h.Hint(r.Request, r.Session))
}

// Refresh reads the session again, which has changed since its proof. It leaves it as it is if it is not found again.
func (r *Run) Refresh(ctx context.Context, want discover.ReadOptions) {
	found, err := r.Scanner.Find(ctx, r.Session.ID, []discover.Agent{r.Session.Agent}, want)
	if several := (*discover.AmbiguousError)(nil); errors.As(err, &several) {
		found.Sessions = several.Candidates
	}
	for _, s := range found.Sessions {
		if s.Key() == r.Session.Key() || r.Session.Path == "" && s.ID == r.Session.ID {
			r.Session = r.withGroup(s)
			return
		}
	}
}

// withGroup adds the launch group, which only the live process and this command know.
func (r *Run) withGroup(s discover.Session) discover.Session {
	s.Group = cmp.Or(s.Group, r.group)
	return s
}

// printID prints the ID, while progress goes on.
func (r *Run) printID() error {
	defer r.Factory.Report.Pause()()
	_, err := fmt.Fprintln(r.Stdout, output.Sanitize(r.Session.ID))
	return err
}

// Print prints the session of an agent that was started alone as JSON, and waits for its end with --wait. With --wait
// the JSON describes the end.
func (r *Run) Print(ctx context.Context) error {
	if r.Session.ID == "" {
		return r.Err
	}
	if r.proven && r.JSON && !r.Wait {
		r.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{})
		if err := output.JSON(r.Stdout, output.NewSession(r.Session)); err != nil {
			return err
		}
	}
	if r.Wait && !errors.Is(r.Err, context.Canceled) {
		return r.waitEnd(ctx)
	}
	return r.Err
}

// explain turns the error of a start into one that says whether the agent still runs; with --kill-on-timeout it kills
// the agent.
func (r *Run) explain(err error) error {
	pid := r.Child.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrSessionTimeout) && r.killOnTimeout:
		return errors.Join(
			cmdutil.TimeoutError(fmt.Sprintf("the session of pid %d did not appear within %s; it was ended", pid, r.timeout), ""),
			r.Child.KillTree(context.Background()),
		)
	case errors.Is(err, launch.ErrSessionTimeout):
		return cmdutil.TimeoutError(
			fmt.Sprintf("the session of pid %d did not appear within %s; %s keeps running", pid, r.timeout, r.Agent.Name()),
			fmt.Sprintf("agentctl status pid:%d shows it once it is known; agentctl stop pid:%d ends it", pid, pid),
		)
	case errors.Is(err, context.Canceled):
		r.Factory.Report.Note(fmt.Sprintf("%s keeps running as pid %d", r.Agent.Name(), pid))
	}
	return err
}
