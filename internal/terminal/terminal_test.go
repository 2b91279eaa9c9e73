package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// fakeTerminal is a pseudo-terminal, of which the test has the master side.
type fakeTerminal struct {
	t       *testing.T
	master  *os.File // what the test writes here is typed
	screen  Screen
	change  chan struct{}
	initial unix.Termios

	mu      sync.Mutex
	output  strings.Builder
	updated chan struct{}
}

// newTerminal opens a terminal with a screen whose frames are numbered.
func newTerminal(t *testing.T) *fakeTerminal {
	t.Helper()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"))
	})
	master, tty, err := pty.Open()
	must.Do(t, err)
	must.Do(t, pty.Setsize(master, &pty.Winsize{Cols: 20, Rows: 3}))
	s := &fakeTerminal{t: t, master: master, change: make(chan struct{}), updated: make(chan struct{}, 1)}
	n := 0
	s.screen = Screen{In: tty, Out: tty, Changed: s.change, Frame: func(columns, rows int) []string {
		n++
		return []string{fmt.Sprintf("frame %d of %dx%d", n, columns, rows), "two", "three", "four"}
	}}
	s.initial = s.mode()
	done := make(chan struct{})
	go s.watch(done)
	t.Cleanup(func() { tty.Close(); <-done; master.Close() })
	return s
}

// watch records the output of the terminal until it is closed.
func (s *fakeTerminal) watch(done chan struct{}) {
	defer close(done)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.output.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.updated <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *fakeTerminal) mode() unix.Termios {
	s.t.Helper()
	now, err := unix.IoctlGetTermios(int(s.master.Fd()), getTermios)
	if err != nil {
		s.t.Fatal(err)
	}
	return *now
}

func (s *fakeTerminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.output.String(), "\r\r", "\r") // the terminal adds one before each line break
}

// waitFor waits until the terminal has printed a text.
func (s *fakeTerminal) waitFor(text string) {
	s.t.Helper()
	s.waitUntil(text, func(shown string) bool { return strings.Contains(shown, text) })
}

// waitUntil waits until what the terminal has printed meets a condition.
func (s *fakeTerminal) waitUntil(what string, met func(string) bool) {
	s.t.Helper()
	for timeout := time.After(time.Minute); !met(s.text()); {
		select {
		case <-s.updated:
		case <-timeout:
			s.t.Fatalf("not %q: %q", what, s.text())
		}
	}
}

func (s *fakeTerminal) typeKeys(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// checkRestored checks that the terminal has its initial mode and screen.
func (s *fakeTerminal) checkRestored() {
	s.t.Helper()
	s.waitFor(leaveAltScreen)
	if got := s.mode(); got != s.initial {
		s.t.Errorf("the mode is %+v, was %+v", got, s.initial)
	}
	if text := s.text(); !strings.HasPrefix(text, enterAltScreen) || !strings.HasSuffix(text, leaveAltScreen) || strings.Count(text, enterAltScreen) != strings.Count(text, leaveAltScreen) {
		s.t.Errorf("shown %q", text)
	}
}

// checkEnd checks that the terminal has its initial mode and screen after another program has had it.
func (s *fakeTerminal) checkEnd() {
	s.t.Helper()
	s.waitUntil("the last screen is left", func(text string) bool {
		return strings.HasSuffix(text, leaveAltScreen) || strings.HasSuffix(text, resetModes)
	})
	if got := s.mode(); got != s.initial {
		s.t.Errorf("the mode is %+v, was %+v", got, s.initial)
	}
	if text := s.text(); strings.Count(text, enterAltScreen) != strings.Count(text, leaveAltScreen) {
		s.t.Errorf("shown %q", text)
	}
}

// Show redraws frames in place, truncated to the screen. q ends it, other keys do not.
func TestShow(t *testing.T) {
	s := newTerminal(t)
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("\x1b[H\x1b[2J\x1b[1H\x1b[2Kframe 1 of 20x3\x1b[2H\x1b[2Ktwo\x1b[3H\x1b[2Kthree")
	if s.mode().Lflag&(unix.ICANON|unix.ECHO) != 0 || s.mode().Lflag&unix.ISIG == 0 {
		t.Errorf("the mode is %+v", s.mode())
	}
	s.change <- struct{}{}
	s.waitFor("\x1b[1H\x1b[2Kframe 2 of")
	s.typeKeys("x")
	s.waitFor("frame 3 of")
	s.waitFor("frame 4 of") // redrawn after redrawInterval
	s.typeKeys("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text := s.text(); strings.Contains(text, "four") || strings.Count(text, "two") != 1 {
		t.Errorf("%q", text)
	}
	s.checkRestored()
}

func TestShowReturns(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*fakeTerminal, context.CancelFunc)
		want error
	}{
		"canceled": {func(_ *fakeTerminal, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"SIGINT":   {func(*fakeTerminal, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGINT) }, ErrInterrupted},
		"SIGTERM":  {func(*fakeTerminal, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGTERM) }, context.Canceled},
		"SIGHUP":   {func(*fakeTerminal, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGHUP) }, context.Canceled},
		"SIGQUIT":  {func(*fakeTerminal, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGQUIT) }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			resetIgnoredSignals(t)
			s := newTerminal(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() { done <- s.screen.Show(ctx) }()
			s.waitFor("frame 1 of")
			test.end(s, cancel)
			if err := <-done; !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			s.checkRestored()
		})
	}
}

// resetIgnoredSignals handles the signals that this process may have inherited as ignored: a shell starts
// background jobs with SIGINT and SIGQUIT ignored.
func resetIgnoredSignals(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	t.Cleanup(func() { signal.Stop(signals) })
}

// The SIGHUP of a terminal that is gone may arrive when Show has returned: it does not end the process.
func TestLateHangUpDoesNotKill(t *testing.T) {
	s := newTerminal(t)
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	must.Do(t, s.master.Close())
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	// The kernel and the runtime deliver the lower number first: once the second signal has arrived, the next test does not get SIGHUP.
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, unix.SIGUSR1)
	defer signal.Stop(arrived)
	must.Do(t, errors.Join(unix.Kill(os.Getpid(), unix.SIGHUP), unix.Kill(os.Getpid(), unix.SIGUSR1)))
	<-arrived
}

func TestShowRestoresAfterPanic(t *testing.T) {
	s := newTerminal(t)
	s.screen.Frame = func(int, int) []string { panic("a frame") }
	func() {
		defer func() {
			if p := recover(); p != "a frame" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = s.screen.Show(t.Context())
	}()
	s.checkRestored()
}

// After SIGCONT, Show enters its mode again, whatever other programs have set, and restores the first mode at the
// end.
func TestShowContinuesAfterSIGCONT(t *testing.T) {
	s := newTerminal(t)
	done := make(chan error)
	go func() { done <- s.screen.Show(t.Context()) }()
	s.waitFor("frame 1 of")
	must.Do(t, unix.IoctlSetTermios(int(s.master.Fd()), setTermios, &s.initial))
	must.Do(t, unix.Kill(os.Getpid(), unix.SIGCONT))
	s.waitFor("frame 2 of")
	if s.mode().Lflag&unix.ICANON != 0 {
		t.Error("keys come by the line")
	}
	s.typeKeys("Q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := s.mode(); got != s.initial {
		t.Errorf("the mode is %+v, was %+v", got, s.initial)
	}
}

// Where the terminal has no key that suspends programs, none does.
func TestSuspendKey(t *testing.T) {
	s := newTerminal(t)
	for _, c := range []struct {
		susp byte // the terminal's control character
		key  Key
		want bool
	}{
		{'z' - 'a' + 1, 'z' - 'a' + 1, true},
		{'z' - 'a' + 1, 0, false},
		{'y' - 'a' + 1, 'y' - 'a' + 1, true},
		{disabledChar, disabledChar, false},
		{disabledChar, 0, false},
	} {
		now := s.mode()
		now.Cc[unix.VSUSP] = c.susp
		must.Do(t, unix.IoctlSetTermios(int(s.master.Fd()), setTermios, &now))
		m := screenMode{in: s.screen.In, out: s.screen.Out}
		must.Do(t, m.enter())
		if got := m.isSuspendKey(c.key); got != c.want {
			t.Errorf("with %#x, the key %#x suspends: %v", c.susp, c.key, got)
		}
		if got := s.mode().Cc[unix.VSUSP]; got != disabledChar {
			t.Errorf("the terminal suspends on %#x", got)
		}
		m.restore()
	}
}

func TestShowWithoutTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	must.Do(t, err)
	defer f.Close()
	if err := (&Screen{In: f, Out: f}).Show(t.Context()); err == nil {
		t.Error("it was shown")
	}
}

// Keys are decoded however their bytes arrive; a lone ESC is a key only if nothing follows.
func TestDecodeKeys(t *testing.T) {
	for _, tc := range []struct {
		typed string
		want  []Key
	}{
		{"jK ?", []Key{'j', 'K', ' ', '?'}},
		{"ä漢🙂", []Key{'ä', '漢', '🙂'}},
		{"\x1b[A\x1bOB\x1b[1;5A\x1b[D", []Key{Up, Down, Up, Unknown}},
		{"\x1b[5~\x1b[6~\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[3~", []Key{PageUp, PageDown, Home, End, Home, End, Unknown}},
		{"\x1b[200~K\r\x1b[201~", []Key{PasteBegin, 'K', Enter, PasteEnd}},
		{"\r\n\x7f\b\t", []Key{Enter, Enter, Backspace, Backspace, Tab}},
		{"\x1b[99;1R\x1b[<0;1;1M", []Key{Unknown, Unknown}},
		{"\xffx", []Key{Unknown, 'x'}},
		{"\x1bq", []Key{Escape, 'q'}},
		{"\x1b", []Key{Escape}},
		{"\x1b[", []Key{Unknown}},
		{"\xe6\xbc", []Key{Unknown, Unknown}},
	} {
		if got, rest := decodeKeys([]byte(tc.typed), true); !slices.Equal(got, tc.want) || len(rest) > 0 {
			t.Errorf("%q: %v, rest %q; want %v", tc.typed, got, rest, tc.want)
		}
		var got, list []Key
		var waiting []byte
		for _, b := range []byte(tc.typed) {
			list, waiting = decodeKeys(append(waiting, b), false)
			got = append(got, list...)
		}
		list, _ = decodeKeys(waiting, true)
		if got = append(got, list...); !slices.Equal(got, tc.want) {
			t.Errorf("%q, byte by byte: %v, want %v", tc.typed, got, tc.want)
		}
	}
}

// Any bytes are decoded to their end.
func FuzzDecodeKeys(f *testing.F) {
	f.Add([]byte("\x1b[1;5Aä\x1b"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		if _, rest := decodeKeys(typed, true); len(rest) > 0 {
			t.Errorf("%q is left of %q", rest, typed)
		}
	})
}
