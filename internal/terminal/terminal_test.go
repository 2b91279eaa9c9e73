package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// stage is a terminal that a test looks at from the other side.
type stage struct {
	t      *testing.T
	keys   *os.File // what is written here is typed
	screen Screen
	change chan struct{}
	before unix.Termios

	mu    sync.Mutex
	shown strings.Builder
	news  chan struct{}
}

// set makes a terminal with a frame that counts.
func set(t *testing.T) *stage {
	t.Helper()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"))
	})
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 20, Rows: 3}); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, keys: master, change: make(chan struct{}), news: make(chan struct{}, 1)}
	n := 0
	s.screen = Screen{In: tty, Out: tty, Changed: s.change, Frame: func(columns, rows int) []string {
		n++
		return []string{fmt.Sprintf("frame %d of %dx%d", n, columns, rows), "two", "three", "four"}
	}}
	s.before = s.mode()
	done := make(chan struct{})
	go s.watch(done)
	t.Cleanup(func() { tty.Close(); <-done; master.Close() })
	return s
}

// watch keeps what the terminal is shown, until its other side is closed.
func (s *stage) watch(done chan struct{}) {
	defer close(done)
	buf := make([]byte, 4096)
	for {
		n, err := s.keys.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *stage) mode() unix.Termios {
	s.t.Helper()
	now, err := unix.IoctlGetTermios(int(s.keys.Fd()), getTermios)
	if err != nil {
		s.t.Fatal(err)
	}
	return *now
}

func (s *stage) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\r", "\r") // the terminal puts one before each line break
}

// sees waits until the text has been shown.
func (s *stage) sees(text string) {
	s.t.Helper()
	for late := time.After(time.Minute); !strings.Contains(s.text(), text); {
		select {
		case <-s.news:
		case <-late:
			s.t.Fatalf("%q is not in %q", text, s.text())
		}
	}
}

func (s *stage) types(keys string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// isAsBefore checks that the terminal was given back.
func (s *stage) isAsBefore() {
	s.t.Helper()
	s.sees(leaveAltScreen)
	if got := s.mode(); got != s.before {
		s.t.Errorf("the mode is %+v, was %+v", got, s.before)
	}
	if text := s.text(); !strings.HasPrefix(text, enterAltScreen) || !strings.HasSuffix(text, leaveAltScreen) || strings.Count(text, enterAltScreen) != strings.Count(text, leaveAltScreen) {
		s.t.Errorf("shown %q", text)
	}
}

// The frame is redrawn in place, no line more than fits; q ends it, another key does not.
func TestShow(t *testing.T) {
	s := set(t)
	over := make(chan error)
	go func() { over <- s.screen.Show(t.Context()) }()
	s.sees("\x1b[H\x1b[2Kframe 1 of 20x3\r\n\x1b[2Ktwo\r\n\x1b[2Kthree")
	if s.mode().Lflag&(unix.ICANON|unix.ECHO) != 0 || s.mode().Lflag&unix.ISIG == 0 {
		t.Errorf("the mode is %+v", s.mode())
	}
	s.change <- struct{}{}
	s.sees("\x1b[H\x1b[2Kframe 2 of")
	s.types("x")
	s.sees("frame 3 of")
	s.sees("frame 4 of") // a second later, of itself
	s.types("q")
	if err := <-over; err != nil {
		t.Error(err)
	}
	if strings.Contains(s.text(), "four") {
		t.Errorf("%q", s.text())
	}
	s.isAsBefore()
}

func TestShowEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*stage, context.CancelFunc)
		want error
	}{
		"nothing more to show": {func(s *stage, _ context.CancelFunc) { close(s.change) }, nil},
		"canceled":             {func(_ *stage, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"SIGINT":               {func(*stage, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGINT) }, nil},
		"SIGTERM":              {func(*stage, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGTERM) }, context.Canceled},
		"SIGHUP":               {func(*stage, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGHUP) }, context.Canceled},
		"SIGQUIT":              {func(*stage, context.CancelFunc) { _ = unix.Kill(os.Getpid(), unix.SIGQUIT) }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			heedAll(t)
			s := set(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			over := make(chan error)
			go func() { over <- s.screen.Show(ctx) }()
			s.sees("frame 1 of")
			test.end(s, cancel)
			if err := <-over; !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			s.isAsBefore()
		})
	}
}

// heedAll heeds what this process may have been started to ignore: by a shell in the background, SIGINT and SIGQUIT.
func heedAll(t *testing.T) {
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	t.Cleanup(func() { signal.Stop(heeded) })
}

func TestShowPanics(t *testing.T) {
	s := set(t)
	s.screen.Frame = func(int, int) []string { panic("a frame") }
	func() {
		defer func() {
			if p := recover(); p != "a frame" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = s.screen.Show(t.Context())
	}()
	s.isAsBefore()
}

// After SIGCONT the terminal is taken again, whatever has been done with it meanwhile, and given back as it was at first.
func TestShowGoesOn(t *testing.T) {
	s := set(t)
	over := make(chan error)
	go func() { over <- s.screen.Show(t.Context()) }()
	s.sees("frame 1 of")
	if err := unix.IoctlSetTermios(int(s.keys.Fd()), setTermios, &s.before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(os.Getpid(), unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.sees("frame 2 of")
	if s.mode().Lflag&unix.ICANON != 0 {
		t.Error("keys come by the line")
	}
	s.types("Q")
	if err := <-over; err != nil {
		t.Error(err)
	}
	if got := s.mode(); got != s.before {
		t.Errorf("the mode is %+v, was %+v", got, s.before)
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (&Screen{In: f, Out: f}).Show(t.Context()); err == nil {
		t.Error("it was shown")
	}
}
