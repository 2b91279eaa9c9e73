package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

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

func newLock(env Env) *cli.Command {
	o := &lockOptions{}
	return &cli.Command{
		Usage:     "lock a directory while a command runs, or until it is unlocked",
		UsageText: "agentctl lock [FLAGS] DIR [-- COMMAND ARGUMENTS…]\nagentctl lock [FLAGS] --repo DIR [-- COMMAND ARGUMENTS…]",
		Description: "With a command, lock holds a kernel lock on the directory while the command runs. The command inherits\n" +
			"the lock, which ends with the last of its processes. Without a command, lock declares a lock in a small file,\n" +
			"until unlock or until its time has passed.",
		ArgsUsage: "DIR [-- COMMAND ARGUMENTS…]",
		Flags: []cli.Flag{
			lockRepoFlag(&o.repo),
			&cli.StringFlag{Name: "by", Usage: "the owner of the lock: `WHO` (default: the session that this runs in, otherwise you)", Destination: &o.by},
			&cli.StringFlag{Name: "reason", Usage: "reason shown to others: `WHY`", Destination: &o.reason},
			spanFlag("for", "the lock expires after `D` (default: it stays until unlock)", &o.duration),
			&cli.BoolFlag{Name: "force", Usage: "with a command: run it even if another session is running there or the directory is locked", Destination: &o.force},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			dir, command, err := lockArguments(c, o)
			if err != nil {
				return err
			}
			places, err := env.lockPlaces(c.Context, "lock", dir, o.repo)
			if err != nil {
				return err
			}
			call, err := env.call("lock", &common{}, nil)
			if err != nil {
				return err
			}
			if len(command) > 0 {
				return call.lockWhile(c.Context, places, command, o.force)
			}
			return call.declare(c.Context, places, o)
		},
	}
}

func lockArguments(c *cli.Context, o *lockOptions) (dir string, command []string, err error) {
	args, command := passed(c.Args().Slice())
	switch {
	case len(args) == 1 && o.repo != "":
		return "", nil, badUsage("lock", "--repo and a directory cannot be used together")
	case len(args) != 1 && o.repo == "" || len(args) > 1:
		return "", nil, badUsage("lock", "lock needs one directory; a command follows --")
	case command != nil && len(command) == 0:
		return "", nil, badUsage("lock", "no command follows --") // of a script's empty variable: nothing would unlock it
	case len(command) > 0 && (o.by != "" || o.reason != "" || o.duration > 0 || o.json):
		return "", nil, badUsage("lock", "--by, --reason, --for and --json are for locks without a command")
	case len(command) == 0 && o.force:
		return "", nil, badUsage("lock", "--force needs a command: a declared lock affects only later commands")
	}
	return strings.Join(args, ""), command, nil
}

// declare stores a lock on each of the places, or on none.
func (c *call) declare(ctx context.Context, places []*lock.Workspace, o *lockOptions) error {
	store := lock.StoreFromEnv(c.Getenv)
	for _, place := range places {
		if list, err := store.ForWorkspace(place, c.Now()); err == nil && len(list) > 0 {
			return c.declaredAlready(store, place)
		}
	}
	working, done := c.query(ctx, "looking for running sessions")
	sc, err := c.scene(working)
	done()
	if err != nil {
		return err
	}
	now := c.Now().UTC().Truncate(time.Millisecond)
	d := lock.DeclaredLock{By: cmp.Or(o.by, sc.self), Reason: o.reason, Since: now}
	if o.duration > 0 {
		d.Until = now.Add(o.duration)
	}
	var locks []lock.Lock
	for _, place := range places {
		x := sc.at(place, false)
		d.Dir = place.Top
		err := store.Declare(ctx, place, d, now)
		if errors.Is(err, lock.ErrAlreadyDeclared) {
			err = c.declaredAlready(store, place)
		}
		if err != nil && len(locks) == 0 {
			return err
		}
		if err != nil {
			return errors.Join(err, c.undeclare(context.WithoutCancel(ctx), store, places[:len(locks)], d))
		}
		for _, l := range x.locks {
			c.warning(whoLocks(l) + "; the lock affects only later commands")
		}
		locks = append(locks, lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d})
	}
	unseen := sc.unseen()
	if o.json {
		err = c.printLocks(locks, true)
	}
	return cmp.Or(err, unseen)
}

// undeclare removes the lock on these places that we have just declared.
func (c *call) undeclare(ctx context.Context, store lock.Store, places []*lock.Workspace, ours lock.DeclaredLock) error {
	var remove []lock.DeclaredLock
	for _, place := range places {
		list, err := store.ForWorkspace(place, c.Now())
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

// declaredAlready names the lock that there is.
func (env Env) declaredAlready(store lock.Store, place *lock.Workspace) error {
	list, err := store.ForWorkspace(place, env.Now())
	if len(list) == 0 {
		return errors.Join(lock.ErrAlreadyDeclared, err)
	}
	x := conflicts{locks: []lock.Lock{{Kind: lock.KindDeclared, Dir: place.Top, Declared: &list[0]}}}
	return x.err("then lock it again")
}

// grabbing is how long a lock of the kernel is asked for: a launch or a look at the lock holds it for a moment only.
const grabbing = time.Second

// lockWhile runs the command under kernel locks that it inherits, one on each place, passes signals on, and ends as it does.
// With force, sessions and declared locks there do not matter.
func (c *call) lockWhile(ctx context.Context, places []*lock.Workspace, command []string, force bool) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var all []*lock.Flock
	defer func() {
		for _, held := range all {
			held.Release()
		}
	}()
	var taken *lock.Workspace // by somebody else
	for _, place := range places {
		limited, cancel := context.WithTimeout(ctx, grabbing)
		held, err := lock.FlockWorkspace(limited, place.Top)
		cancel()
		if errors.Is(err, lock.ErrFlocked) {
			taken = place
			break
		}
		if err != nil {
			return err
		}
		all = append(all, held)
		cmd.ExtraFiles = append(cmd.ExtraFiles, held.File())
	}
	sc, err := c.scene(ctx) // after the places are held: who has come before is seen
	if err != nil {
		return err
	}
	unseen := sc.unseen()
	if taken != nil {
		x := sc.at(taken, c.Strict)
		x.addHolders(sc.Table, true)
		return x.err("wait for it")
	}
	for _, place := range places {
		if force {
			break
		}
		if err := sc.at(place, c.Strict).agentErr("wait for it, or --force"); err != nil {
			return err
		}
	}
	return cmp.Or(c.passThrough(cmd), unseen)
}

// passThrough runs a command in our place: signals reach it and all that it has started, and its exit code is ours.
func (env Env) passThrough(cmd *exec.Cmd) error {
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
			return passOn(cmd.ProcessState, err)
		}
	}
}

// byKey reports whether a signal is that of a key of the terminal in whose foreground we are. It has reached the command as
// well, and many take a second one for an order to end at once.
func byKey(s os.Signal, foreground func() bool) bool {
	return (s == os.Interrupt || s == syscall.SIGQUIT) && foreground()
}

func passOn(state *os.ProcessState, err error) error {
	var exit *exec.ExitError
	switch status, ok := state.Sys().(syscall.WaitStatus); {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	case ok && status.Signaled():
		return passedOn(128 + int(status.Signal()))
	}
	return passedOn(state.ExitCode())
}
