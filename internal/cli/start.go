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
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock"
	"agentctl/proc"
)

// starting is an agent about to be started.
type starting struct {
	agent launch.Agent
	req   launch.Request
	vars  []string // of the agent's environment, beside ours
	group string   // that the agent was started in
	*startOptions
	settings
}

func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// begun is an agent that was started.
type begun struct {
	*starting
	world *discover.World
	child *launch.Child
	watch *launch.Watch
	// since is when it was started; no message of its turn is older.
	since time.Time
	// session is the one that was proven; nobody while none was.
	session discover.Session
	// hint is for the person, once it runs; "" if there is none.
	hint string
}

// start starts the agent and prints its session once that is proven.
func (env Env) start(ctx context.Context, st *starting) error {
	working, stop := interruptible(ctx) // to the end: no signal is lost between two steps
	defer stop()
	quiet := env.progress("waiting for the session of " + string(st.agent.Name()))
	defer quiet()
	b, err := env.begin(working, st)
	if b == nil {
		return err
	}
	defer b.child.Close()
	ended := (*launch.EndedError)(nil)
	switch {
	case err == nil:
		err = env.proven(working, b)
	case errors.As(err, &ended) && b.session.ID != "":
		// It has left a session behind, be it that of a failure.
		err = errors.Join(env.printProven(b), err)
	}
	quiet()
	env.hints(working, b)
	err = env.unproven(b, err)
	if st.wait && b.session.ID != "" && !errors.Is(err, context.Canceled) {
		return env.waitOut(working, b, err)
	}
	return err
}

// begin starts the agent and waits for the proof of its session. From the check that nobody works in the worktree until
// the proof the worktree is held; from then on the session itself is in the way of others. It is nil if nothing was
// started.
func (env Env) begin(ctx context.Context, st *starting) (*begun, error) {
	host := launch.NewHost(env.Environ, env.Adapters, st.vars...)
	// The agent's home is where the agent is told it is, which may be another one than ours.
	world := env.world(st.Homes)
	world.Setup = func(a discover.Agent) discover.Setup {
		return discover.Setup{Getenv: host.Getenv, Configured: st.Homes[string(a)]}
	}
	spec, err := launch.Plan(st.agent, st.req, host)
	if err != nil {
		return nil, err
	}
	if err := isDirectory(spec.Dir); err != nil {
		return nil, err
	}
	st.req.Dir = spec.Dir // of a session that has moved, it is where the agent will find it
	limited, cancel := context.WithTimeout(ctx, st.timeout)
	defer cancel()
	held, err := env.occupy(limited, world, st)
	if err != nil {
		return nil, err
	}
	since := time.Now().Truncate(time.Millisecond) // as precise as the agents store their times
	child, err := launch.Start(spec, host, st.output)
	if err != nil {
		held.Release()
		return nil, err
	}
	b := &begun{
		starting: st, world: world, child: child, watch: launch.NewWatch(world, st.agent, child), since: since,
		session: discover.Nobody(), hint: spec.Hint,
	}
	session, err := b.watch.Await(limited)
	held.Release()
	st.group = host.Getenv(discover.GroupKey)
	b.session = st.grouped(session)
	return b, err
}

// hints gives the hints for what was started, each once.
func (env Env) hints(ctx context.Context, list ...*begun) {
	var given []string
	for _, b := range list {
		if b == nil {
			continue
		}
		if hint := b.hinted(context.WithoutCancel(ctx)); hint != "" && !slices.Contains(given, hint) {
			env.report.hint(hint)
			given = append(given, hint)
		}
	}
}

// hinted is what the person should know of the way the agent was started, "" if nothing.
func (b *begun) hinted(ctx context.Context) string {
	h, ok := b.agent.(launch.Hinter)
	if !ok || b.session.ID == "" || b.req.Permissions != launch.Own {
		return b.hint
	}
	b.renew(ctx, discover.Want{}) // what the turn may do is stored after the session has shown itself
	return cmp.Or(b.hint, h.Hint(b.req, b.session))
}

// renew reads the session again, which has changed since its proof. It stays as it was if it cannot be found any more.
func (b *begun) renew(ctx context.Context, want discover.Want) {
	r, err := b.world.Find(ctx, b.session.ID, []discover.Agent{b.session.Agent}, want)
	if several := (*discover.AmbiguousError)(nil); errors.As(err, &several) {
		r.Sessions = several.Candidates
	}
	for _, s := range r.Sessions {
		if s.Key() == b.session.Key() || b.session.Path == "" && s.ID == b.session.ID {
			b.session = b.grouped(s)
			return
		}
	}
}

// grouped adds what only a live process knows of its session, and we: the group.
func (st *starting) grouped(s discover.Session) discover.Session {
	s.Group = cmp.Or(s.Group, st.group)
	return s
}

// proven prints the session, and watches whether it fails at once. An ID stays true, and is printed before; JSON is what is
// true afterwards.
func (env Env) proven(ctx context.Context, b *begun) error {
	if !b.json {
		if err := env.printProven(b); err != nil {
			return err
		}
		return env.settle(ctx, b)
	}
	failed := env.settle(ctx, b)
	b.renew(context.WithoutCancel(ctx), discover.Want{})
	return errors.Join(env.printProven(b), failed)
}

// printProven prints the session. Of one that is waited for, JSON is printed when all is known.
func (env Env) printProven(b *begun) error {
	if b.wait && b.json {
		return nil
	}
	return env.printStarted(b.session, b.json)
}

// settle runs what is to run once the session is proven, and watches whether it fails at once.
func (env Env) settle(ctx context.Context, b *begun) error {
	if err := (hook{"--on-create", b.onCreate}).run(ctx, env, b.session, nil); err != nil {
		return err
	}
	return b.watch.Settle(ctx)
}

// occupy holds the worktree if nobody else is at work there. Where that is no matter, nothing is held.
func (env Env) occupy(ctx context.Context, world *discover.World, st *starting) (*lock.Held, error) {
	place, err := lock.At(st.req.Dir)
	if err != nil {
		return nil, err
	}
	if st.force && st.req.Resume == nil {
		return nil, nil // whoever is there, and whoever else is starting: that is no matter
	}
	held, err := env.hold(ctx, world, place)
	if err != nil {
		return nil, err
	}
	if err := env.unoccupied(ctx, world, place, st); err != nil {
		held.Release()
		return nil, err
	}
	return held, nil
}

// hold holds the place. Other launches hold it for as long as they take, and are waited for; anybody else is in the way.
func (env Env) hold(ctx context.Context, world *discover.World, place *lock.Place) (*lock.Held, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, grabbing)
		held, err := lock.Hold(limited, place.Top)
		cancel()
		if !errors.Is(err, lock.ErrHeld) {
			return held, err
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		sc := scene{}
		if sc.Table, err = world.Take(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		sc.holders(place, true)
		if ctx.Err() != nil || slices.ContainsFunc(sc.locks, func(l lock.Lock) bool { return !env.isLaunch(sc, l) }) {
			return nil, sc.conflict("wait for it")
		}
	}
}

// isLaunch reports whether a lock is that of this program, starting an agent; of an unseen process that is not known.
func (env Env) isLaunch(sc scene, l lock.Lock) bool {
	self, _ := sc.Table.PID(env.PID)
	if len(l.Holders) == 0 {
		return true
	}
	holder := l.Holders[0]
	args, err := holder.Args()
	if errors.Is(err, proc.ErrGone) || err == nil && len(args) == 0 {
		return true // it has ended since, and holds nothing
	}
	if err != nil || holder.Exe != self.Exe || len(args) < 2 {
		return false
	}
	return l.Shared || args[1] == "launch" || args[1] == "resume" // it only shares the lock to see whether it is held
}

// unoccupied is an error if the session to resume runs, or if another one is running in the worktree.
func (env Env) unoccupied(ctx context.Context, world *discover.World, place *lock.Place, st *starting) error {
	sc, err := env.sceneAt(ctx, world, place, st.Strict)
	if err != nil {
		return err
	}
	if err := st.resumable(sc.Result); err != nil || st.force {
		return err
	}
	_ = env.unseen(sc) // the proof of the session will fail, and say why
	sc.agentsOut()
	if err := sc.conflict("wait for it, stop it, use a worktree of its own, or --force"); err != nil {
		return err
	}
	env.openHere(sc, place)
	return nil
}

// named is a session in the words of a message.
func named(s discover.Session) string {
	name := fmt.Sprintf("an unidentified %s session", s.Agent)
	if s.ID != "" {
		name = fmt.Sprintf("%s %s", s.Agent, render.Clean(s.ID))
	}
	if len(s.Processes) == 0 {
		return name
	}
	return fmt.Sprintf("%s (pid %d, since %s)", name, s.Processes[0].ID.PID, moment(s.Processes[0].Started))
}

// resumable is an error if the session to go on with is live.
func (st *starting) resumable(r discover.Result) error {
	if st.req.Resume == nil || st.req.Fork {
		return nil
	}
	for _, s := range r.Sessions {
		if s.Key() == st.req.Resume.Key() && s.Status.Live() {
			return conflict(fmt.Sprintf("%s is live (%s)", named(s), s.Status), wayOn(s))
		}
	}
	return nil
}

// wayOn is what can be done instead of going on with a session that is live. One that is idle in a process with others does
// not go away when it is stopped.
func wayOn(s discover.Session) string {
	if s.Shared && s.Status == discover.Idle {
		return fmt.Sprintf("pid %d keeps it open: talk to it there, wait --until stopped, or continue a copy: --fork", s.Processes[0].ID.PID)
	}
	return "wait for it, stop it, or continue a copy: --fork"
}

// unproven says what became of a start that did not go well.
func (env Env) unproven(b *begun, err error) error {
	pid := b.child.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrUnproven) && b.killOnTimeout:
		return errors.Join(
			late(fmt.Sprintf("the session of pid %d did not appear within %s; it was ended", pid, b.timeout), ""),
			b.child.Kill(context.Background()),
		)
	case errors.Is(err, launch.ErrUnproven):
		return late(
			fmt.Sprintf("the session of pid %d did not appear within %s; %s keeps running", pid, b.timeout, b.agent.Name()),
			fmt.Sprintf("agentctl status pid:%d shows it once it is known; agentctl stop pid:%d ends it", pid, pid),
		)
	case errors.Is(err, context.Canceled):
		env.report.note(fmt.Sprintf("%s keeps running as pid %d", b.agent.Name(), pid))
	}
	return err
}
