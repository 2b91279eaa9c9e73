// Package lock is the commands lock and unlock.
package lock

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/lock"
)

type options struct {
	repo        string
	by, reason  string
	duration    time.Duration
	force, json bool
}

func New(f cmdutil.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Usage:     "lock a directory while a command runs, or until it is unlocked",
		UsageText: "agentctl lock [FLAGS] DIR [-- COMMAND ARGUMENTS…]\nagentctl lock [FLAGS] --repo DIR [-- COMMAND ARGUMENTS…]",
		Description: "With a command, lock holds a kernel lock on the directory while the command runs. The command inherits\n" +
			"the lock, which is released when its last process ends. Without a command, lock declares a lock in a small file,\n" +
			"which is in force until unlock or until it expires.",
		ArgsUsage: "DIR [-- COMMAND ARGUMENTS…]",
		Flags: []cli.Flag{
			lockRepoFlag(&o.repo),
			&cli.StringFlag{Name: "by", Usage: "the owner of the lock: `WHO` (default: the session that this runs in, otherwise you)", Destination: &o.by},
			&cli.StringFlag{Name: "reason", Usage: "reason shown to others: `WHY`", Destination: &o.reason},
			cmdutil.DurationFlag("for", "the lock expires after `D` (default: it stays until unlock)", &o.duration),
			&cli.BoolFlag{Name: "force", Usage: "with a command: run it even if another session is running there or the directory is locked", Destination: &o.force},
			cmdutil.JSONFlag(&o.json),
		},
		CustomHelpTemplate: cmdutil.HelpTemplate(`agentctl lock . --reason "release 1.4" --for 2h`, "agentctl lock . -- make release", "agentctl lock --repo . --for 1h"),
		Action: func(c *cli.Context) error {
			dir, command, err := lockArguments(c, o)
			if err != nil {
				return err
			}
			workspaces, err := findWorkspaces(c.Context, f, "lock", dir, o.repo)
			if err != nil {
				return err
			}
			call, err := f.NewCall("lock", &cmdutil.CommonFlags{JSON: o.json}, nil)
			if err != nil {
				return err
			}
			if len(command) > 0 {
				return runLocked(c.Context, call, workspaces, command, o.force)
			}
			return declare(c.Context, call, workspaces, o)
		},
	}
}

func lockArguments(c *cli.Context, o *options) (dir string, command []string, err error) {
	args, command := cmdutil.SplitPassed(c.Args().Slice())
	switch {
	case len(args) == 1 && o.repo != "":
		return "", nil, cmdutil.UsageError("lock", "--repo and a directory cannot be used together")
	case len(args) != 1 && o.repo == "" || len(args) > 1:
		return "", nil, cmdutil.UsageError("lock", "lock needs one directory; a command follows --")
	case command != nil && len(command) == 0:
		return "", nil, cmdutil.UsageError("lock", "no command follows --") // of a script's empty variable: nothing would unlock it
	case len(command) > 0 && (o.by != "" || o.reason != "" || o.duration > 0 || o.json):
		return "", nil, cmdutil.UsageError("lock", "--by, --reason, --for and --json are for locks without a command")
	case len(command) == 0 && o.force:
		return "", nil, cmdutil.UsageError("lock", "--force needs a command: a declared lock affects only later commands")
	}
	return strings.Join(args, ""), command, nil
}

// declare stores a lock on each of the workspaces, or on none.
func declare(ctx context.Context, c *cmdutil.Call, workspaces []*lock.Workspace, o *options) error {
	store := lock.StoreFromEnv(c.Getenv)
	for _, workspace := range workspaces {
		if list, err := store.ForWorkspace(workspace, c.Now()); err == nil && len(list) > 0 {
			return declaredAlready(c.Factory, store, workspace)
		}
	}
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	now := c.Now().UTC().Truncate(time.Millisecond)
	d := lock.DeclaredLock{By: cmp.Or(o.by, activity.Owner), Reason: o.reason, Since: now}
	if o.duration > 0 {
		d.Until = now.Add(o.duration)
	}
	var locks []lock.Lock
	for _, workspace := range workspaces {
		x := c.ConflictsAt(activity, workspace, false)
		d.Dir = workspace.Top
		err := store.Declare(ctx, workspace, d, now)
		if errors.Is(err, lock.ErrAlreadyDeclared) {
			err = declaredAlready(c.Factory, store, workspace)
		}
		if err != nil && len(locks) == 0 {
			return err
		}
		if err != nil {
			return errors.Join(err, undeclare(context.WithoutCancel(ctx), c, store, workspaces[:len(locks)], d))
		}
		for _, l := range x.Locks {
			c.Warn(cmdutil.DescribeLock(l) + "; the lock affects only later commands")
		}
		locks = append(locks, lock.Lock{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &d})
	}
	unseen := c.WarnIfBlind(activity)
	if o.json {
		err = c.PrintLocks(locks)
	}
	return cmp.Or(err, unseen)
}

// undeclare removes the locks on these workspaces that this command has just declared.
func undeclare(ctx context.Context, c *cmdutil.Call, store lock.Store, workspaces []*lock.Workspace, ours lock.DeclaredLock) error {
	var remove []lock.DeclaredLock
	for _, workspace := range workspaces {
		list, err := store.ForWorkspace(workspace, c.Now())
		if err != nil {
			return err
		}
		for _, d := range list {
			if d.By == ours.By && d.Since.Equal(ours.Since) {
				remove = append(remove, d)
			}
		}
	}
	return store.Remove(ctx, c.Now(), remove...)
}

// declaredAlready returns a conflict error with the existing lock.
func declaredAlready(f cmdutil.Factory, store lock.Store, workspace *lock.Workspace) error {
	list, err := store.ForWorkspace(workspace, f.Now())
	if len(list) == 0 {
		return errors.Join(lock.ErrAlreadyDeclared, err)
	}
	return cmdutil.LocksErr([]lock.Lock{{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &list[0]}}, "then lock it again")
}
