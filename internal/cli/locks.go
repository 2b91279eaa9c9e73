package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/lock"
)

func newLocks(env Env) *cli.Command {
	o := &common{}
	return &cli.Command{
		Usage:     "list the locks in force: those of live sessions, held and declared ones",
		UsageText: "agentctl locks [FLAGS]",
		Flags:     []cli.Flag{formatFlag(&o.format, "{{.type}} {{.directory}}"), jsonFlag(&o.json), noColorFlag(&o.noColor)},
		Action: func(c *cli.Context) error {
			return env.locks(c.Context, o)
		},
	}
}

func (env Env) locks(ctx context.Context, o *common) error {
	c, err := env.call("locks", o, output.Lock{})
	if err != nil {
		return err
	}
	r, err := c.sessions(ctx, "looking for running sessions", discover.SessionFilter{Subagents: true})
	if err != nil {
		return err
	}
	var list []lock.Lock
	for _, session := range slices.Backward(r.Sessions) {
		dir := lock.SessionDir(session) // also if it is gone: who works there is still at work
		if dir == "" || !lock.SessionLocks(session, r.Sessions, c.Strict) {
			continue
		}
		if place, err := lock.WorkspaceOf(dir); err == nil {
			dir = place.Top
		}
		list = append(list, lock.Lock{Kind: lock.KindSession, Dir: dir, Session: &session})
	}
	holdings := lock.FlockedDirs(r.Table)
	for _, h := range holdings {
		list = append(list, lock.Lock{Kind: lock.KindFlock, Dir: h.Dir, Holders: h.Processes, Shared: h.Shared})
	}
	store := lock.StoreFromEnv(env.Getenv)
	declared, bad := store.List(env.Now())
	for _, d := range declared {
		list = append(list, lock.Lock{Kind: lock.KindDeclared, Dir: d.Dir, Declared: &d})
	}
	for _, place := range places(r.Sessions, declared) {
		list = append(list, env.hiddenLocks(place, holdings, store)...)
	}
	if err := c.printLocks(list, o.json); err != nil {
		return err
	}
	err = env.warn(r.Warnings)
	if bad != nil {
		env.warning(bad.Error())
		err = errPartial
	}
	return err
}

// places are those where locks are looked for that show nowhere else: here, where sessions live, and where locks are
// declared.
func places(sessions []discover.Session, declared []lock.DeclaredLock) (out []*lock.Workspace) {
	dirs := []string{"."}
	for _, s := range sessions {
		dirs = append(dirs, lock.SessionDir(s))
	}
	for _, d := range declared {
		dirs = append(dirs, d.Dir)
	}
	seen := map[string]bool{"": true}
	for _, dir := range dirs {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		place, err := lock.WorkspaceOf(dir)
		if err == nil && !slices.ContainsFunc(out, func(p *lock.Workspace) bool { return p.Contains(dir) }) {
			out = append(out, place)
		}
	}
	return out
}

// hiddenLocks are the locks of a place that only it shows: one that a process holds which cannot be seen, and declared ones
// whose file cannot be read.
func (env Env) hiddenLocks(place *lock.Workspace, holdings []lock.FlockedDir, store lock.Store) (out []lock.Lock) {
	seen := slices.ContainsFunc(holdings, func(h lock.FlockedDir) bool { return !h.Shared && place.IsFlockedDir(h) })
	if held, err := place.IsFlocked(); err == nil && held && !seen {
		out = append(out, lock.Lock{Kind: lock.KindFlock, Dir: place.Top})
	}
	declared, _ := store.ForWorkspace(place, env.Now()) // what is wrong with the others is said of all together
	for _, d := range declared {
		if d.ReadErr != nil {
			out = append(out, lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d})
		}
	}
	return out
}

func (c *call) printLocks(list []lock.Lock, asJSON bool) error {
	objects := make([]output.Lock, 0, len(list))
	for _, l := range list {
		objects = append(objects, lockObject(l))
	}
	return printRows(c, objects, asJSON, output.LockTable)
}

func lockObject(l lock.Lock) output.Lock {
	out := output.Lock{Directory: l.Dir, Kind: string(l.Kind), Since: output.Timestamp(l.Since())}
	switch {
	case l.Session != nil:
		session := output.NewSession(*l.Session)
		out.Adapter, out.SessionID, out.PID = session.Adapter, session.ID, session.PID
		out.Status = session.Status
	case len(l.Holders) > 0:
		out.PID, out.LockedBy, out.Shared = l.Holders[0].ID.PID, l.Holders[0].Name, l.Shared
	case l.Declared != nil && l.Declared.ReadErr != nil:
		out.Reason = l.Declared.ReadErr.Error()
	case l.Declared != nil:
		out.LockedBy, out.Reason, out.Until = l.Declared.By, l.Declared.Reason, output.Timestamp(l.Declared.Until)
	}
	return out
}
