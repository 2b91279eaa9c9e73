package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
	"agentctl/lock"
	"agentctl/proc"
)

type lockOptions struct {
	repo        string
	by, reason  string
	duration    time.Duration
	force, json bool
}

func lockCommand(env Env) *cli.Command {
	o := &lockOptions{}
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
			DurationFlag("for", "the lock expires after `D` (default: it stays until unlock)", &o.duration),
			&cli.BoolFlag{Name: "force", Usage: "with a command: run it even if another session is running there or the directory is locked", Destination: &o.force},
			JSONFlag(&o.json),
		},
		CustomHelpTemplate: HelpTemplate(`agentctl lock . --reason "release 1.4" --for 2h`, "agentctl lock . -- make release", "agentctl lock --repo . --for 1h"),
		Action: func(c *cli.Context) error {
			dir, command, err := lockArguments(c, o)
			if err != nil {
				return err
			}
			workspaces, err := findWorkspaces(c.Context, env, "lock", dir, o.repo)
			if err != nil {
				return err
			}
			call, err := env.NewCall("lock", &CommonFlags{JSON: o.json}, nil)
			if err != nil {
				return err
			}
			if len(command) > 0 {
				return runLocked(c.Context, call, workspaces, command, o.force)
			}
			return runDeclare(c.Context, call, workspaces, o)
		},
	}
}

func lockArguments(c *cli.Context, o *lockOptions) (dir string, command []string, err error) {
	args, command := SplitPassed(c.Args().Slice())
	switch {
	case len(args) == 1 && o.repo != "":
		return "", nil, UsageError("lock", "--repo and a directory cannot be used together")
	case len(args) != 1 && o.repo == "" || len(args) > 1:
		return "", nil, UsageError("lock", "lock needs one directory; a command follows --")
	case command != nil && len(command) == 0:
		return "", nil, UsageError("lock", "no command follows --") // an empty variable in a script: nothing would unlock it
	case len(command) > 0 && (o.by != "" || o.reason != "" || o.duration > 0 || o.json):
		return "", nil, UsageError("lock", "--by, --reason, --for and --json are for locks without a command")
	case len(command) == 0 && o.force:
		return "", nil, UsageError("lock", "--force needs a command: a declared lock affects only later commands")
	}
	return strings.Join(args, ""), command, nil
}

// runDeclare stores a lock on each of the workspaces, or on none.
func runDeclare(ctx context.Context, c *Call, workspaces []*lock.Workspace, o *lockOptions) error {
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	store, now := lock.StoreFromEnv(c.Getenv), c.Now().UTC().Truncate(time.Millisecond)
	d := lock.DeclaredLock{By: cmp.Or(o.by, activity.Owner), Reason: o.reason, Since: now}
	if o.duration > 0 {
		d.Until = now.Add(o.duration)
	}
	var locks, others []lock.Lock
	for _, workspace := range workspaces {
		others = append(others, c.ConflictsAt(activity, workspace, false).Locks...)
		locks = append(locks, lock.Lock{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &d})
	}
	ctx, stop := Interruptible(ctx) // until all are locked, or none
	defer stop()
	if err := store.Declare(ctx, workspaces, d, now); err != nil {
		for _, workspace := range workspaces {
			if list, _ := store.ForWorkspace(workspace, now); errors.Is(err, lock.ErrAlreadyDeclared) && len(list) > 0 {
				return LocksErr([]lock.Lock{{Kind: lock.KindDeclared, Dir: workspace.Top, Declared: &list[0]}}, "then lock it again")
			}
		}
		return err
	}
	for _, l := range others {
		c.Warn(DescribeLock(l) + "; the lock affects only later commands")
	}
	unseen := c.WarnIfBlind(activity)
	if o.json {
		err = c.PrintLocks(locks)
	}
	return cmp.Or(err, unseen)
}

// runLocked runs the command under kernel locks that it inherits, one on each workspace, passes signals on, and ends
// with its exit code. With force, sessions and declared locks are ignored.
func runLocked(ctx context.Context, c *Call, workspaces []*lock.Workspace, command []string, force bool) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var all []*lock.Flock
	defer func() {
		for _, held := range all {
			held.Release()
		}
	}()
	var taken *lock.Workspace // by somebody else
	for _, workspace := range workspaces {
		limited, cancel := context.WithTimeout(ctx, lock.FlockTimeout)
		held, err := lock.FlockWorkspace(limited, workspace.Top)
		cancel()
		if errors.Is(err, lock.ErrFlocked) {
			taken = workspace
			break
		}
		if err != nil {
			return err
		}
		all = append(all, held)
		cmd.ExtraFiles = append(cmd.ExtraFiles, held.File())
	}
	activity, err := lock.ReadActivity(ctx, c.Scanner, c.Getenv, c.Now) // once the workspaces are held: whoever came first is seen
	if err != nil {
		return err
	}
	unseen := c.WarnIfBlind(activity)
	if taken != nil {
		x := c.ConflictsAt(activity, taken, c.Config.Strict)
		x.AddHolders(activity.Table, true)
		return LocksErr(x.Locks, "wait for it")
	}
	for _, workspace := range workspaces {
		if force {
			break
		}
		if err := LocksErr(c.ConflictsAt(activity, workspace, c.Config.Strict).All(), "wait for it, or --force"); err != nil {
			return err
		}
	}
	return cmp.Or(passSignals(cmd), unseen)
}

// passSignals runs a command in place of this one: signals reach it and all its descendants, and its exit code is
// returned.
func passSignals(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	job, err := proc.StartJob(cmd, !terminal.Foreground())
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- job.Wait() }()
	for {
		select {
		case s := <-signals:
			if sig, ok := s.(syscall.Signal); ok && !byKey(s, terminal.Foreground) {
				job.Signal(sig)
			}
		case err := <-ended:
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				return err
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return ExitWith(128 + int(status.Signal()))
			}
			return ExitWith(exit.ExitCode())
		}
	}
}

// byKey reports whether a signal comes from a key of the terminal in whose foreground this process is. The command has
// received it already, and many programs take a second one as an order to end at once.
func byKey(s os.Signal, foreground func() bool) bool {
	return (s == os.Interrupt || s == syscall.SIGQUIT) && foreground()
}

func unlockCommand(env Env) *cli.Command {
	o := &lockOptions{}
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
			args, err := Arguments(c, want, want, "a directory")
			if err != nil {
				return err
			}
			call, err := env.NewCall("unlock", &CommonFlags{}, nil)
			if err != nil {
				return err
			}
			return runUnlock(c.Context, call, strings.Join(args, ""), o)
		},
	}
}

// runUnlock removes all locks on a directory or on the worktrees of a repository, or none.
func runUnlock(ctx context.Context, c *Call, dir string, o *lockOptions) error {
	workspaces, err := findWorkspaces(ctx, c.Env, "unlock", dir, o.repo)
	if err != nil {
		return err
	}
	store := lock.StoreFromEnv(c.Getenv)
	var all []lock.DeclaredLock
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
			d.Dir = workspace.Top // by whatever name it was declared
			all = append(all, d)
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
		for _, d := range all {
			if d.ReadErr != nil || d.By != by {
				return ConflictError(DescribeLock(lock.Lock{Kind: lock.KindDeclared, Dir: d.Dir, Declared: &d}), "--force removes it anyway")
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
func findWorkspaces(ctx context.Context, env Env, verb, dir, repo string) ([]*lock.Workspace, error) {
	if repo == "" {
		workspace, err := lock.WorkspaceOf(dir)
		if verb == "unlock" && errors.Is(err, fs.ErrNotExist) {
			workspace, err = lock.MissingWorkspace(dir) // the directory is gone, and the lock with it
		}
		if err != nil {
			return nil, UsageError(verb, "%v", err)
		}
		return []*lock.Workspace{workspace}, nil
	}
	r, err := env.OpenRepository(ctx, verb, repo)
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

func locksCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage:              "list the locks in force: session locks, held locks and declared locks",
		Flags:              o.objectFlags(),
		CustomHelpTemplate: HelpTemplate("agentctl locks", "agentctl locks --json"),
		Action:             func(c *cli.Context) error { return runLocks(c.Context, env, o) },
	}
}

func runLocks(ctx context.Context, env Env, o *CommonFlags) error {
	c, err := env.NewCall("locks", o, object.Lock{})
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
	err = env.ReportWarnings(activity.Warnings)
	if bad != nil {
		env.Warn(bad.Error())
		err = ErrPartial
	}
	return err
}

func (c *Call) PrintLocks(list []lock.Lock) error {
	return PrintRows(c, convert(list, lockObject), render.LockTable)
}

func lockObject(l lock.Lock) object.Lock {
	out := object.Lock{Directory: l.Dir, Kind: string(l.Kind), Since: object.Timestamp(l.Since())}
	switch {
	case l.Session != nil:
		session := object.NewSession(*l.Session)
		out.Adapter, out.SessionID, out.PID = session.Adapter, session.ID, session.PID
		out.Status = session.Status
	case len(l.Holders) > 0:
		out.PID, out.LockedBy, out.Shared = l.Holders[0].ID.PID, l.Holders[0].Name, l.Shared
	case l.Declared != nil && l.Declared.ReadErr != nil:
		out.Reason = l.Declared.ReadErr.Error()
	case l.Declared != nil:
		out.LockedBy, out.Reason, out.Until = l.Declared.By, l.Declared.Reason, object.Timestamp(l.Declared.Until)
	}
	return out
}
