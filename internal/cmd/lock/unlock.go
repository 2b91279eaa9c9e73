package lock

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/lock"
)

type unlockOptions struct {
	repo  string
	by    string
	force bool
}

func NewUnlock(f cmdutil.Factory) *cli.Command {
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
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl unlock .", "agentctl unlock --repo . --force"),
		Action: func(c *cli.Context) error {
			want, what := 1, "a directory"
			if o.repo != "" {
				want = 0
			}
			args, err := cmdutil.Arguments(c, want, what)
			if err != nil {
				return err
			}
			call, err := f.NewCall("unlock", &cmdutil.CommonFlags{}, nil)
			if err != nil {
				return err
			}
			return unlock(c.Context, call, strings.Join(args, ""), o)
		},
	}
}

func unlock(ctx context.Context, c *cmdutil.Call, dir string, o *unlockOptions) error {
	if o.repo != "" {
		workspaces, err := findWorkspaces(ctx, c.Factory, "unlock", "", o.repo)
		if err != nil {
			return err
		}
		return unlockAll(ctx, c, workspaces, "any worktree of "+o.repo, o)
	}
	workspace, err := lock.WorkspaceOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		workspace, err = lock.MissingWorkspace(dir) // what it was locked for has gone with it
	}
	if err != nil {
		return cmdutil.UsageError("unlock", "%v", err)
	}
	return unlockAll(ctx, c, []*lock.Workspace{workspace}, workspace.Top, o)
}

// unlockAll removes all locks on the workspaces, or none. name names the workspaces in an error.
func unlockAll(ctx context.Context, c *cmdutil.Call, workspaces []*lock.Workspace, name string, o *unlockOptions) error {
	store := lock.StoreFromEnv(c.Getenv)
	var all []lock.DeclaredLock
	var unread error
	for _, workspace := range workspaces {
		locks, err := store.ForWorkspace(workspace, c.Now())
		if errors.Is(err, lock.ErrNoStore) {
			return err
		}
		if err != nil && unread == nil { // it is the store's, and the same for each workspace
			unread = err
			c.Warn(err.Error())
		}
		if !o.force && len(locks) > 0 {
			if err := ownLocks(ctx, c, workspace, locks, o.by); err != nil {
				return err
			}
		}
		all = append(all, locks...)
	}
	if len(all) == 0 {
		return errors.Join(cmdutil.NotFoundError("no declared lock on "+name), unread)
	}
	return store.Remove(ctx, c.Now(), all...)
}

// ownLocks returns a conflict error if one of the locks belongs to another owner than by, or than the caller if by is
// "".
func ownLocks(ctx context.Context, c *cmdutil.Call, workspace *lock.Workspace, locks []lock.DeclaredLock, by string) error {
	if by == "" {
		activity, err := c.Activity(ctx, "looking for the current session")
		if err != nil {
			return err
		}
		by = activity.Owner
	}
	for _, d := range locks {
		if d.ReadErr != nil || d.By != by {
			return cmdutil.ConflictError(cmdutil.DescribeLock(lock.Lock{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &d}), "--force removes it all the same")
		}
	}
	return nil
}
