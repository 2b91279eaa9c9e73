package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// agentRun is one agent that a command starts: what is asked for, and what becomes of it.
type agentRun struct {
	*call
	*startOptions
	agent launch.Adapter
	req   launch.Request
	vars  []string // of the agent's environment, beside ours
	group string   // that the agent was started in

	// Of a launch: what it was asked for by, the name that tells it from others of its group, and its worktree.
	entry config.MatrixRow
	name  string
	made  worktree.CreateResult

	child *launch.Child // nil: nothing was started
	watch *launch.Verifier
	// since is when it was started; no message of its turn is older.
	since time.Time
	// session is the one that was found; nobody while none was. proven: it is the agent's, and may be printed.
	session discover.Session
	proven  bool
	// hint is for the person, once it runs; "" if there is none.
	hint string
	// err is what went wrong; answer is what the turn answered.
	err    error
	answer string
}

func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// startOne starts an agent, and prints its session once that is proven.
func (env Env) startOne(ctx context.Context, r *agentRun) error {
	working, stop := interruptible(ctx) // to the end: no signal is lost between two steps
	defer stop()
	quiet := env.progress("waiting for the session of " + string(r.agent.Name()))
	defer quiet()
	if r.err = r.start(working, true); r.child == nil {
		return r.err
	}
	defer r.child.Close()
	quiet()
	env.hints(ctx, r)
	return r.report(working)
}

// start starts the agent, waits for the proof of its session, runs what is to run then, and watches whether it fails at once.
// An ID stays true: alone it is printed as soon as it is proven.
func (r *agentRun) start(ctx context.Context, alone bool) error {
	err := r.begin(ctx)
	if r.child == nil {
		return err
	}
	ended := (*launch.AgentFailedError)(nil)
	r.proven = err == nil || errors.As(err, &ended) && r.session.ID != "" // it has left a session behind, be it that of a failure
	if r.proven && alone && !r.json {
		err = errors.Join(err, r.printID())
	}
	if err == nil {
		err = hook{"--on-create", r.onCreate}.run(ctx, r.Env, r.session, nil)
	}
	if err == nil {
		err = r.watch.AwaitTurn(ctx)
	}
	if err != nil && r.session.ID != "" { // it has changed since its proof
		r.renew(context.WithoutCancel(ctx), discover.ReadOptions{Full: true, Tokens: true})
	}
	return r.unproven(err)
}

// begin starts the agent and waits for the proof of its session. From the check that nobody works in the worktree until
// the proof the worktree is held; from then on the session itself is in the way of others.
func (r *agentRun) begin(ctx context.Context) error {
	r.session = discover.UnknownSession()
	host := launch.NewEnvironment(r.Environ, r.Adapters, r.vars...)
	// The agent's home is where the agent is told it is, which may be another one than ours.
	there := *r.call
	there.world = there.Env.world(r.Homes)
	there.world.HomeSources = func(a discover.Agent) discover.HomeSources {
		return discover.HomeSources{Getenv: host.Getenv, Configured: r.Homes[string(a)]}
	}
	r.call = &there
	spec, err := launch.Plan(r.agent, r.req, host)
	if err != nil {
		return err
	}
	if err := isDirectory(spec.Dir); err != nil {
		return err
	}
	r.req.Dir = spec.Dir // of a session that has moved, it is where the agent will find it
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	held, err := r.occupy(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return late(fmt.Sprintf("nothing was started: within %s it was not known whether another session is in the way", r.timeout), "")
	}
	if err != nil {
		return err
	}
	r.since = time.Now().Truncate(time.Millisecond) // as precise as the agents store their times
	child, err := launch.Start(spec, host, r.output)
	if err != nil {
		held.Release()
		return err
	}
	r.child, r.hint, r.watch = child, spec.Hint, launch.NewVerifier(r.world, r.agent, child)
	session, err := r.watch.AwaitSession(limited)
	held.Release()
	r.group = host.Getenv(discover.GroupEnv)
	r.session = r.grouped(session)
	return err
}

// hints gives the hints for what was started, each once.
func (env Env) hints(ctx context.Context, runs ...*agentRun) {
	var given []string
	for _, r := range runs {
		if r.child == nil {
			continue
		}
		if hint := r.hinted(context.WithoutCancel(ctx)); hint != "" && !slices.Contains(given, hint) {
			env.report.hint(hint)
			given = append(given, hint)
		}
	}
}

// hinted is what the person should know of the way the agent was started, "" if nothing.
func (r *agentRun) hinted(ctx context.Context) string {
	h, ok := r.agent.(launch.Hinter)
	if !ok || r.session.ID == "" || r.req.Permissions != launch.PermissionsOwn {
		return r.hint
	}
	r.renew(ctx, discover.ReadOptions{}) // what the turn may do is stored after the session has shown itself
	return cmp.Or(r.hint, h.Hint(r.req, r.session))
}

// renew reads the session again, which has changed since its proof. It stays as it was if it cannot be found any more.
func (r *agentRun) renew(ctx context.Context, want discover.ReadOptions) {
	found, err := r.world.Find(ctx, r.session.ID, []discover.Agent{r.session.Agent}, want)
	if several := (*discover.AmbiguousError)(nil); errors.As(err, &several) {
		found.Sessions = several.Candidates
	}
	for _, s := range found.Sessions {
		if s.Key() == r.session.Key() || r.session.Path == "" && s.ID == r.session.ID {
			r.session = r.grouped(s)
			return
		}
	}
}

// grouped adds what only a live process knows of its session, and we: the group.
func (r *agentRun) grouped(s discover.Session) discover.Session {
	s.Group = cmp.Or(s.Group, r.group)
	return s
}

// printID prints the ID, while the progress of the start goes on.
func (r *agentRun) printID() error {
	defer r.Env.report.pause()()
	_, err := fmt.Fprintln(r.Stdout, output.Sanitize(r.session.ID))
	return err
}

// report prints as JSON what became of an agent that was started alone, and waits for its end if that is asked for. JSON is
// what is true when all is known.
func (r *agentRun) report(ctx context.Context) error {
	if r.session.ID == "" {
		return r.err
	}
	if r.proven && r.json && !r.wait {
		r.renew(context.WithoutCancel(ctx), discover.ReadOptions{})
		if err := output.JSON(r.Stdout, output.NewSession(r.session)); err != nil {
			return err
		}
	}
	if r.wait && !errors.Is(r.err, context.Canceled) {
		return r.waitOut(ctx)
	}
	return r.err
}

// unproven says what became of a start that did not go well.
func (r *agentRun) unproven(err error) error {
	pid := r.child.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrSessionTimeout) && r.killOnTimeout:
		return errors.Join(
			late(fmt.Sprintf("the session of pid %d did not appear within %s; it was ended", pid, r.timeout), ""),
			r.child.KillTree(context.Background()),
		)
	case errors.Is(err, launch.ErrSessionTimeout):
		return late(
			fmt.Sprintf("the session of pid %d did not appear within %s; %s keeps running", pid, r.timeout, r.agent.Name()),
			fmt.Sprintf("agentctl status pid:%d shows it once it is known; agentctl stop pid:%d ends it", pid, pid),
		)
	case errors.Is(err, context.Canceled):
		r.Env.report.note(fmt.Sprintf("%s keeps running as pid %d", r.agent.Name(), pid))
	}
	return err
}
