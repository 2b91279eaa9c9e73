// Package locks is the command locks.
package locks

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/lock"
)

// New makes the command locks.
func New(f cmdutil.Factory) *cli.Command {
	o := &cmdutil.CommonFlags{}
	return &cli.Command{
		Usage:              "list the locks in force: session locks, held locks and declared locks",
		UsageText:          "agentctl locks [FLAGS]",
		Flags:              []cli.Flag{cmdutil.FormatFlag(&o.Format, "{{.type}} {{.directory}}"), cmdutil.JSONFlag(&o.JSON), cmdutil.NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl locks", "agentctl locks --json"),
		Action: func(c *cli.Context) error {
			return run(c.Context, f, o)
		},
	}
}

func run(ctx context.Context, f cmdutil.Factory, o *cmdutil.CommonFlags) error {
	c, err := f.NewCall("locks", o, output.Lock{})
	if err != nil {
		return err
	}
	r, err := c.List(ctx, "looking for running sessions", discover.SessionFilter{Subagents: true})
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
	store := lock.StoreFromEnv(f.Getenv)
	declared, bad := store.List(f.Now())
	for _, d := range declared {
		list = append(list, lock.Lock{Kind: lock.KindDeclared, Dir: d.Dir, Declared: &d})
	}
	for _, place := range places(r.Sessions, declared) {
		list = append(list, hiddenLocks(f, place, holdings, store)...)
	}
	if err := c.PrintLocks(list, o.JSON); err != nil {
		return err
	}
	err = f.ReportWarnings(r.Warnings)
	if bad != nil {
		f.Warn(bad.Error())
		err = cmdutil.ErrPartial
	}
	return err
}

// places returns the workspaces to check for hidden locks: the current one, those of sessions, and those of declared
// locks.
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

// hiddenLocks returns the locks of a workspace that no list shows: one held by a process that cannot be seen, and
// declared ones whose file cannot be read.
func hiddenLocks(f cmdutil.Factory, place *lock.Workspace, holdings []lock.FlockedDir, store lock.Store) (out []lock.Lock) {
	seen := slices.ContainsFunc(holdings, func(h lock.FlockedDir) bool { return !h.Shared && place.IsFlockedDir(h) })
	if held, err := place.IsFlocked(); err == nil && held && !seen {
		out = append(out, lock.Lock{Kind: lock.KindFlock, Dir: place.Top})
	}
	declared, _ := store.ForWorkspace(place, f.Now()) // List has reported errors of the store
	for _, d := range declared {
		if d.ReadErr != nil {
			out = append(out, lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d})
		}
	}
	return out
}
