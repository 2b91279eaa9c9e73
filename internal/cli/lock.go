package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/terminal"
	"agentctl/lock"
)

type lockOptions struct {
	by, reason  string
	duration    time.Duration
	force, json bool
}

func newLock(env Env) *cli.Command {
	o := &lockOptions{}
	return &cli.Command{
		Usage:     "lock a directory, until it is unlocked or while a command runs",
		UsageText: "agentctl lock [FLAGS] DIR [-- COMMAND ARGUMENTS…]",
		Description: "With a command, a kernel lock is held on the directory while it runs: the command inherits it, and\n" +
			"nothing outlives it. Without one, a lock is declared in a small file, until unlock or its time is up.",
		ArgsUsage: "DIR [-- COMMAND ARGUMENTS…]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "who locks it: `WHO` is the session this runs inside of, or you", Destination: &o.by},
			&cli.StringFlag{Name: "reason", Usage: "`WHY`", Destination: &o.reason},
			spanFlag("for", "declare it for `D`; without it, until unlock", &o.duration),
			&cli.BoolFlag{Name: "force", Usage: "with a command: though others are at work there", Destination: &o.force},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			dir, command, err := lockArguments(c, o)
			if err != nil {
				return err
			}
			place, err := lock.At(dir)
			if err != nil {
				return badUsage("lock", "%v", err)
			}
			if len(command) > 0 {
				return env.lockWhile(c.Context, place, command, o)
			}
			return env.declare(c.Context, place, o)
		},
	}
}

func lockArguments(c *cli.Context, o *lockOptions) (dir string, command []string, err error) {
	args, command := passed(c.Args().Slice())
	switch {
	case len(args) != 1:
		return "", nil, badUsage("lock", "lock needs one directory; a command stands behind --")
	case command != nil && len(command) == 0:
		return "", nil, badUsage("lock", "no command stands behind --") // of a script's empty variable: nothing would unlock it
	case len(command) > 0 && (o.by != "" || o.reason != "" || o.duration > 0 || o.json):
		return "", nil, badUsage("lock", "--by, --reason, --for and --json are for locks without a command")
	case len(command) == 0 && o.force:
		return "", nil, badUsage("lock", "--force goes with a command: a declared lock hinders only what comes later")
	}
	return args[0], command, nil
}

// declare stores a lock.
func (env Env) declare(ctx context.Context, place *lock.Place, o *lockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	working, done := env.look(ctx, "looking who is at work")
	sc, err := env.sceneAt(working, env.world(s.Homes), place, false)
	done()
	if err != nil {
		return err
	}
	now := env.Now().UTC().Truncate(time.Millisecond)
	d := lock.Declared{Dir: place.Top, By: o.by, Reason: o.reason, Since: now}
	if d.By == "" {
		d.By = sc.self
	}
	if o.duration > 0 {
		d.Until = now.Add(o.duration)
	}
	store := lock.StoreIn(env.Getenv)
	if err := store.Declare(place, d, now); errors.Is(err, lock.ErrDeclared) {
		return env.declaredAlready(store, place)
	} else if err != nil {
		return err
	}
	for _, l := range sc.locks {
		env.say("warning", whoLocks(l)+"; the lock hinders only what comes later")
	}
	unseen := env.unseen(sc)
	if o.json {
		err = env.printLocks([]lock.Lock{{Kind: lock.Stated, Dir: place.Top, Declared: &d}}, true, s.look)
	}
	return firstOf(err, unseen)
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

// lockWhile runs the command under a kernel lock that it inherits, passes signals on, and ends as it does.
func (env Env) lockWhile(ctx context.Context, place *lock.Place, command []string, o *lockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, grabbing)
	defer cancel()
	held, heldErr := lock.Hold(limited, place.Top)
	if heldErr != nil && !errors.Is(heldErr, lock.ErrHeld) {
		return heldErr
	}
	sc, err := env.sceneAt(ctx, env.world(s.Homes), place, s.Strict)
	if err != nil {
		return err
	}
	unseen := env.unseen(sc)
	if heldErr != nil {
		sc.holders(place, true)
		return sc.conflict("wait for it")
	}
	if !o.force {
		sc.agentsOut()
		if err := sc.conflict("wait for it, or --force"); err != nil {
			return errors.Join(err, held.Release())
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	cmd.ExtraFiles = []*os.File{held.File()}
	return firstOf(env.passThrough(cmd), unseen)
}

// firstOf is the first error there is.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// passThrough runs a command in our place: signals reach it, and its exit code is ours.
func (env Env) passThrough(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !byKey(s, terminal.Foreground) {
				_ = cmd.Process.Signal(s) // that it has just ended is no news
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

// passedOn is the end of a command that ran in our place.
type passedOn struct{ code int }

func (p *passedOn) Error() string { return fmt.Sprintf("the command ended with exit code %d", p.code) }

func passOn(state *os.ProcessState, err error) error {
	var exit *exec.ExitError
	switch status, ok := state.Sys().(syscall.WaitStatus); {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	case ok && status.Signaled():
		return &passedOn{128 + int(status.Signal())}
	}
	return &passedOn{state.ExitCode()}
}
