package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
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

// stuckTerminal is a terminal that takes nothing until it is read. Its frames are larger than what the kernel keeps.
type stuckTerminal struct {
	screen  Screen
	master  *os.File
	initial unix.Termios
	frames  atomic.Int64
	typed   chan Key
	ended   chan error
}

func newStuckTerminal(t *testing.T) *stuckTerminal {
	t.Helper()
	master, tty, err := pty.Open()
	must.Do(t, err)
	t.Cleanup(func() { tty.Close(); master.Close() })
	s := &stuckTerminal{master: master, typed: make(chan Key, 64), ended: make(chan error, 1)}
	s.screen = Screen{
		In: tty, Out: tty, Changed: make(chan struct{}), Interval: time.Millisecond,
		Frame: func(int, int) []string {
			return []string{fmt.Sprintf("frame %d.", s.frames.Add(1)), strings.Repeat("x", 1<<18)}
		},
		Typed: func(k Key) Request { s.typed <- k; return Request{Quit: k == 'q'} },
	}
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	must.Do(t, err)
	s.initial = *mode
	go func() { s.ended <- s.screen.Show(t.Context()) }()
	return s
}

func (s *stuckTerminal) typeKeys(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	for range keys {
		<-s.typed
	}
}

// While a terminal takes nothing, keys are handled and no further frame is made. What is shown once it takes output is the newest
// state.
func TestSlowTerminal(t *testing.T) {
	s := newStuckTerminal(t)
	for range 20 {
		s.typeKeys(t, "x") // each would be drawn, and so would each millisecond
	}
	if n := s.frames.Load(); n != 1 {
		t.Errorf("%d frames were made", n)
	}
	read := make(chan string, 1)
	go func() {
		var b strings.Builder
		_, _ = io.Copy(&b, s.master) // its error is how a terminal ends
		read <- b.String()
	}()
	for s.frames.Load() < 3 {
		s.typeKeys(t, "x")
	}
	s.typeKeys(t, "q")
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.screen.Out.Close()
	if text := <-read; !strings.Contains(text, "frame 2.") || !strings.HasSuffix(text, leaveAltScreen) {
		t.Errorf("it ends with %q", text[max(0, len(text)-200):])
	}
}

// Where the terminal is gone, Show returns at once, whether SIGHUP comes or not.
func TestHangUp(t *testing.T) {
	s := newStuckTerminal(t)
	s.typeKeys(t, "x")
	s.master.Close()
	if err := <-s.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A terminal that takes nothing, because nobody reads or because of Ctrl-S, keeps no program running. It gets its mode back, and what it
// takes later is the end of the screen.
func TestStuckTerminalIsRestored(t *testing.T) {
	for name, test := range map[string]struct {
		keys string
		want error
	}{
		"q": {"q", nil}, "SIGTERM": {"", context.Canceled}, "Ctrl-S and q": {"\x13q", nil},
	} {
		t.Run(name, func(t *testing.T) {
			resetIgnoredSignals(t)
			s := newStuckTerminal(t)
			s.typeKeys(t, "x") // the loop runs
			if test.keys == "" {
				must.Do(t, unix.Kill(os.Getpid(), unix.SIGTERM))
			} else if _, err := s.master.WriteString(test.keys); err != nil {
				t.Fatal(err)
			}
			if err := <-s.ended; !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if got, err := unix.IoctlGetTermios(int(s.screen.Out.Fd()), getTermios); err != nil || *got != s.initial {
				t.Errorf("the mode is %+v, was %+v, %v", got, s.initial, err)
			}
			s.screen.Out.Close()
			left, _ := io.ReadAll(s.master) // its error is how a terminal ends
			if !strings.HasSuffix(string(left), leaveAltScreen) {
				t.Errorf("it ends with %q", left[max(0, len(left)-200):])
			}
		})
	}
}
