package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
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
			if len(command) > 0 {
				return env.lockWhile(c.Context, places, command, o)
			}
			return env.declare(c.Context, places, o)
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
func (env Env) declare(ctx context.Context, places []*lock.Place, o *lockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	store := lock.StoreIn(env.Getenv)
	for _, place := range places {
		if list, err := store.On(place, env.Now()); err == nil && len(list) > 0 {
			return env.declaredAlready(store, place)
		}
	}
	var locks []lock.Lock
	var unseen error
	for i, place := range places {
		sc, d, err := env.declareOne(ctx, s, store, place, o)
		if err != nil && len(locks) == 0 {
			return err
		}
		if err != nil {
			return errors.Join(err, env.undeclare(context.WithoutCancel(ctx), store, places, locks))
		}
		locks = append(locks, lock.Lock{Kind: lock.Stated, Dir: place.Top, Declared: &d})
		if i == 0 { // it is the same for each
			unseen = env.unseen(sc)
		}
	}
	if o.json {
		err = env.printLocks(locks, &locksOptions{json: true}, nil, s.look)
	}
	return cmp.Or(err, unseen)
}

// undeclare removes those of the locks on these places that we have just declared.
func (env Env) undeclare(ctx context.Context, store lock.Store, places []*lock.Place, ours []lock.Lock) error {
	var remove []lock.Declared
	for _, place := range places {
		list, err := store.On(place, env.Now())
		if err != nil {
			return err
		}
		for _, d := range list {
			if slices.ContainsFunc(ours, func(l lock.Lock) bool {
				return l.Dir == d.Dir && l.Declared.By == d.By && l.Declared.Since.Equal(d.Since)
			}) {
				remove = append(remove, d)
			}
		}
	}
	return store.Remove(ctx, env.Now(), remove...)
}

// declareOne stores a lock on a place, and warns of those in whose way it comes.
func (env Env) declareOne(
	ctx context.Context, s settings, store lock.Store, place *lock.Place, o *lockOptions,
) (sc scene, d lock.Declared, err error) {
	working, done := env.look(ctx, "looking for running sessions")
	sc, err = env.sceneAt(working, env.world(s.Homes), place, false)
	done()
	if err != nil {
		return sc, d, err
	}
	now := env.Now().UTC().Truncate(time.Millisecond)
	d = lock.Declared{Dir: place.Top, By: o.by, Reason: o.reason, Since: now}
	if d.By == "" {
		d.By = sc.self
	}
	if o.duration > 0 {
		d.Until = now.Add(o.duration)
	}
	if err := store.Declare(ctx, place, d, now); errors.Is(err, lock.ErrDeclared) {
		return sc, d, env.declaredAlready(store, place)
	} else if err != nil {
		return sc, d, err
	}
	for _, l := range sc.locks {
		env.say("warning", whoLocks(l)+"; the lock affects only later commands")
	}
	return sc, d, nil
}

// declaredAlready names the lock that there is.
func (env Env) declaredAlready(store lock.Store, place *lock.Place) error {
	list, err := store.On(place, env.Now())
	if len(list) == 0 {
		return errors.Join(lock.ErrDeclared, err)
	}
	return scene{locks: []lock.Lock{{Kind: lock.Stated, Dir: place.Top, Declared: &list[0]}}}.conflict("then lock it again")
}

// grabbing is how long a lock of the kernel is asked for: a launch or a look at the lock holds it for a moment only.
const grabbing = time.Second

// lockWhile runs the command under kernel locks that it inherits, one on each place, passes signals on, and ends as it does.
func (env Env) lockWhile(ctx context.Context, places []*lock.Place, command []string, o *lockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	var all []*lock.Held
	defer func() {
		for _, held := range all {
			held.Release()
		}
	}()
	var unseen error
	for i, place := range places {
		sc, held, err := env.holdFree(ctx, s, place, o.force)
		if i == 0 { // it is the same for each
			unseen = env.unseen(sc)
		}
		if err != nil {
			return err
		}
		all = append(all, held)
		cmd.ExtraFiles = append(cmd.ExtraFiles, held.File())
	}
	return cmp.Or(env.passThrough(cmd), unseen)
}

// holdFree holds a place that nothing else locks; with force, sessions and declared locks there do not matter.
func (env Env) holdFree(ctx context.Context, s settings, place *lock.Place, force bool) (sc scene, held *lock.Held, err error) {
	limited, cancel := context.WithTimeout(ctx, grabbing)
	defer cancel()
	held, heldErr := lock.Hold(limited, place.Top)
	if heldErr != nil && !errors.Is(heldErr, lock.ErrHeld) {
		return sc, nil, heldErr
	}
	sc, err = env.sceneAt(ctx, env.world(s.Homes), place, s.Strict)
	if err != nil {
		held.Release()
		return sc, nil, err
	}
	if heldErr != nil {
		sc.holders(place, true)
		return sc, nil, sc.conflict("wait for it")
	}
	if !force {
		sc.agentsOut()
		if err := sc.conflict("wait for it, or --force"); err != nil {
			held.Release()
			return sc, nil, err
		}
	}
	return sc, held, nil
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
