package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/object"
	"agentctl/lock"
)

type unlockOptions struct {
	repo  string
	by    string
	force bool
}

func NewUnlock(f Factory) *cli.Command {
	o := &unlockOptions{}
	return &cli.Command{
		Usage:     "remove a declared lock",
		UsageText: "agentctl unlock [FLAGS] DIR\nagentctl unlock [FLAGS] --repo DIR",
		ArgsUsage: "DIR",
		Flags: []cli.Flag{
			lockRepoFlag(&o.repo),
			&cli.StringFlag{Name: "by", Usage: "remove `WHO`'s lock (default: yours)", Destination: &o.by},
			&cli.BoolFlag{Name: "force", Usage: "remove the lock even if someone else has declared it", Destination: &o.force},
		},
		CustomHelpTemplate: HelpTemplate("agentctl unlock .", "agentctl unlock --repo . --force"),
		Action: func(c *cli.Context) error {
			want := 1
			if o.repo != "" {
				want = 0
			}
			args, err := Arguments(c, want, "a directory")
			if err != nil {
				return err
			}
			call, err := f.NewCall("unlock", &CommonFlags{}, nil)
			if err != nil {
				return err
			}
			return unlock(c.Context, call, strings.Join(args, ""), o)
		},
	}
}

// unlock removes all locks on a directory or on the worktrees of a repository, or none.
func unlock(ctx context.Context, c *Call, dir string, o *unlockOptions) error {
	workspaces, err := findWorkspaces(ctx, c.Factory, "unlock", dir, o.repo)
	if err != nil {
		return err
	}
	store := lock.StoreFromEnv(c.Getenv)
	var all []lock.DeclaredLock
	var shown []lock.Lock
	var unread error
	for _, workspace := range workspaces {
		list, err := store.ForWorkspace(workspace, c.Now())
		if errors.Is(err, lock.ErrNoStore) {
			return err
		}
		if err != nil && unread == nil { // it is the store's, and the same for each workspace
			unread = err
			c.Warn(err.Error())
		}
		for _, d := range list {
			all = append(all, d)
			shown = append(shown, lock.Lock{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &d})
		}
	}
	if len(all) == 0 {
		name := "any worktree of " + o.repo
		if o.repo == "" {
			name = workspaces[0].Top
		}
		return errors.Join(NotFoundError("no declared lock on "+name), unread)
	}
	if by := o.by; !o.force {
		if by == "" {
			activity, err := c.Activity(ctx, "looking for the current session")
			if err != nil {
				return err
			}
			by = activity.Owner
		}
		for _, l := range shown {
			if l.Declared.ReadErr != nil || l.Declared.By != by {
				return ConflictError(DescribeLock(l), "--force removes it all the same")
			}
		}
	}
	return store.Remove(ctx, c.Now(), all...)
}

func lockRepoFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "repo", Usage: "all current worktrees of the git repository that contains `DIR`", Destination: to}
}

// findWorkspaces returns the workspaces to lock or unlock: that of dir, or all current worktrees of a repository. They are
// sorted, so that two commands that hold them all cannot wait for each other.
func findWorkspaces(ctx context.Context, f Factory, verb, dir, repo string) ([]*lock.Workspace, error) {
	if repo == "" {
		workspace, err := lock.WorkspaceOf(dir)
		if verb == "unlock" && errors.Is(err, fs.ErrNotExist) {
			workspace, err = lock.MissingWorkspace(dir) // what it was locked for has gone with it
		}
		if err != nil {
			return nil, UsageError(verb, "%v", err)
		}
		return []*lock.Workspace{workspace}, nil
	}
	r, err := f.OpenRepository(ctx, verb, repo)
	if err != nil {
		return nil, err
	}
	list, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var workspaces []*lock.Workspace
	for _, w := range list {
		if w.Bare || w.Prunable {
			continue
		}
		workspace, err := lock.WorkspaceOf(w.Path)
		if err != nil {
			return nil, err
		}
		workspaces = append(workspaces, workspace)
	}
	if len(workspaces) == 0 {
		return nil, UsageError(verb, "--repo: %s has no worktree", repo)
	}
	slices.SortFunc(workspaces, func(a, b *lock.Workspace) int { return strings.Compare(a.Top, b.Top) })
	return workspaces, nil
}

func NewLocks(f Factory) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage:              "list the locks in force: session locks, held locks and declared locks",
		UsageText:          "agentctl locks [FLAGS]",
		Flags:              []cli.Flag{FormatFlag(&o.Format, "{{.type}} {{.directory}}"), JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl locks", "agentctl locks --json"),
		Action:             func(c *cli.Context) error { return locks(c.Context, f, o) },
	}
}

func locks(ctx context.Context, f Factory, o *CommonFlags) error {
	c, err := f.NewCall("locks", o, object.Lock{})
	if err != nil {
		return err
	}
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	list, bad := activity.List(c.Config.Strict)
	if err := c.PrintLocks(list); err != nil {
		return err
	}
	err = f.ReportWarnings(activity.Warnings)
	if bad != nil {
		f.Warn(bad.Error())
		err = ErrPartial
	}
	return err
}
