package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock"
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

// start starts the agent and prints its session once that is proven. From the check that nobody works in the worktree
// until the proof the worktree is held; from then on the session itself is in the way of others.
func (env Env) start(ctx context.Context, st *starting) error {
	world := env.world(st.Homes)
	host := launch.NewHost(env.Environ, env.Adapters, st.vars...)
	spec, err := st.agent.Spec(st.req, host)
	if err != nil {
		return err
	}
	if spec.Hint != "" {
		env.saying("hint: ", spec.Hint)
	}
	working, done := env.work(ctx, "waiting for the session of "+string(st.agent.Name()))
	defer done()
	limited, cancel := context.WithTimeout(working, st.timeout)
	defer cancel()
	held, err := env.occupy(limited, world, st)
	if err != nil {
		return err
	}
	child, err := launch.Start(spec, host, st.output)
	if err != nil {
		return errors.Join(err, held.Release())
	}
	defer child.Close()
	watch := launch.NewWatch(world, st.agent, child)
	session, err := watch.Await(limited)
	if err := held.Release(); err != nil {
		return err
	}
	st.group = host.Getenv(discover.GroupKey)
	session = st.grouped(session)
	if err == nil {
		err = env.proven(working, st, watch, session)
	}
	done()
	err = env.unproven(st, child, err)
	if st.wait && session.ID != "" && !errors.Is(err, context.Canceled) {
		return env.waitOut(ctx, st, watch, child, session, err)
	}
	return err
}

// grouped adds what only a live process knows of its session, and we: the group.
func (st *starting) grouped(s discover.Session) discover.Session {
	s.Group = cmp.Or(s.Group, st.group)
	return s
}

// proven prints the session, and watches whether it fails at once. Of a session that is waited for, JSON is printed when
// all is known.
func (env Env) proven(ctx context.Context, st *starting, watch *launch.Watch, session discover.Session) error {
	if !st.wait || !st.json {
		if err := env.printStarted(session, st.json); err != nil {
			return err
		}
	}
	if err := (hook{"--on-create", st.onCreate}).run(ctx, env, session, nil); err != nil {
		return err
	}
	return watch.Settle(ctx)
}

// occupy holds the worktree if nobody else works there.
func (env Env) occupy(ctx context.Context, world *discover.World, st *starting) (*lock.Held, error) {
	held, err := lock.Hold(ctx, st.req.Dir)
	if errors.Is(err, lock.ErrHeld) {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, &conflictError{fmt.Sprintf("%s is held by another process", st.req.Dir), "it may be another launch; try again"}
	}
	if err != nil {
		return nil, err
	}
	if err := env.unoccupied(ctx, world, st); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	return held, nil
}

// unoccupied is an error if the session to resume runs, or if another one is at work in the worktree.
func (env Env) unoccupied(ctx context.Context, world *discover.World, st *starting) error {
	r, err := world.List(ctx, discover.Select{})
	if err != nil {
		return err
	}
	if err := st.resumable(r); err != nil {
		return err
	}
	if st.force {
		return nil
	}
	place, err := lock.At(st.req.Dir)
	if err != nil {
		return err
	}
	for _, s := range r.Sessions {
		if !place.Has(s.Dir) || s.RunByAny(r.Table.Ancestors(env.PID)) {
			continue
		}
		if s.Status == discover.Idle && !st.Strict {
			env.say("warning", fmt.Sprintf("%s is open in %s, idle", named(s), place.Top))
			continue
		}
		return &conflictError{fmt.Sprintf("%s is at work in %s (%s)", named(s), place.Top, s.Status), "wait for it, stop it, use a worktree of its own, or --force"}
	}
	return nil
}

// named is a session in the words of a message.
func named(s discover.Session) string {
	id := "a session without a name"
	if s.ID != "" {
		id = render.Clean(s.ID)
	}
	if len(s.Processes) == 0 {
		return fmt.Sprintf("%s %s", s.Agent, id)
	}
	return fmt.Sprintf("%s %s (pid %d, since %s)", s.Agent, id, s.Processes[0].ID.PID,
		s.Processes[0].Started.UTC().Format(time.RFC3339))
}

// resumable is an error if the session to go on with is live.
func (st *starting) resumable(r discover.Result) error {
	if st.req.Resume == nil || st.req.Fork {
		return nil
	}
	for _, s := range r.Sessions {
		if s.Key() == st.req.Resume.Key() && s.Status.Live() {
			return &conflictError{fmt.Sprintf("%s is live (%s)", named(s), s.Status), "wait for it, stop it, or go on with a copy: --fork"}
		}
	}
	return nil
}

// unproven says what became of a start that did not go well.
func (env Env) unproven(st *starting, child *launch.Child, err error) error {
	pid := child.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrUnproven) && st.killOnTimeout:
		return errors.Join(&timeoutError{
			fmt.Sprintf("no session of pid %d was proven within %s; it was ended", pid, st.timeout), "",
		}, child.Kill(context.Background()))
	case errors.Is(err, launch.ErrUnproven):
		return &timeoutError{
			fmt.Sprintf("no session of pid %d was proven within %s; %s goes on", pid, st.timeout, st.agent.Name()),
			fmt.Sprintf("agentctl status pid:%d tells once it is known; agentctl stop pid:%d ends it", pid, pid),
		}
	case errors.Is(err, context.Canceled):
		env.saying("agentctl: ", fmt.Sprintf("%s goes on as pid %d", st.agent.Name(), pid))
	}
	return err
}
