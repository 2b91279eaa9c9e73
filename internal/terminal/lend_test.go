package terminal

import (
	"context"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// While another program has the terminal, the terminal has its own mode; afterwards it has ours, whatever that program has left,
// and at the end its own again.
func TestRunHasTheTerminal(t *testing.T) {
	s := newTerminal(t)
	seen := make(chan unix.Termios, 1)
	s.screen.Typed = func(k Key) Request {
		if k != 'a' {
			return Request{Quit: k == 'q'}
		}
		return Request{Run: func(context.Context) {
			seen <- s.mode()
			raw := s.initial
			raw.Lflag = 0
			if err := unix.IoctlSetTermios(int(s.screen.In.Fd()), setTermios, &raw); err != nil {
				t.Error(err)
			}
			if _, err := s.screen.Out.WriteString("\x1b[?1003hkilled"); err != nil {
				t.Error(err)
			}
			if err := unix.SetNonblock(int(s.screen.Out.Fd()), true); err != nil { // as tmux does
				t.Error(err)
			}
		}}
	}
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	s.typeKeys("a")
	if got := <-seen; got != s.initial {
		t.Errorf("it has %+v, not %+v", got, s.initial)
	}
	s.waitFor("killed" + resetModes + enterAltScreen)
	if flags, err := unix.FcntlInt(s.screen.Out.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the flags are %#x, %v", flags, err)
	}
	if s.mode().Lflag&(unix.ICANON|unix.ECHO) != 0 || s.mode().Lflag&unix.ISIG == 0 {
		t.Errorf("the mode is %+v", s.mode())
	}
	s.typeKeys("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.checkEnd()
}

// A signal ends the program that has the terminal, too, whatever that one has left there.
func TestSignalEndsRun(t *testing.T) {
	resetIgnoredSignals(t)
	s := newTerminal(t)
	began := make(chan struct{})
	s.screen.Typed = func(Key) Request {
		return Request{Run: func(ctx context.Context) {
			raw := s.initial
			raw.Lflag = unix.ISIG
			if err := unix.IoctlSetTermios(int(s.screen.In.Fd()), setTermios, &raw); err != nil {
				t.Error(err)
			}
			close(began)
			<-ctx.Done()
		}}
	}
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	s.typeKeys("a")
	<-began
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM} { // the first is not ours
		must.Do(t, unix.Kill(os.Getpid(), sig))
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.checkEnd()
}

// If the keyboard cannot be opened again after another program has had the terminal, Show returns the error and restores the
// terminal.
func TestKeyboardCannotBeOpenedAgain(t *testing.T) {
	s := newTerminal(t)
	var limit unix.Rlimit
	must.Do(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) })
	s.screen.Typed = func(Key) Request {
		return Request{Run: func(context.Context) {
			none := limit
			none.Cur = 0 // no further file
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
				t.Error(err)
			}
		}}
	}
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	s.typeKeys("a")
	if err := <-done; !errors.Is(err, unix.EMFILE) {
		t.Errorf("%v, want %v", err, unix.EMFILE)
	}
	s.checkEnd()
}

// If the terminal is gone when another program gives it back, Show ends as after SIGHUP.
func TestTerminalGoneDuringRun(t *testing.T) {
	s := newTerminal(t)
	s.screen.Typed = func(Key) Request {
		return Request{Run: func(context.Context) {
			if err := s.master.Close(); err != nil {
				t.Error(err)
			}
		}}
	}
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	s.typeKeys("a")
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
