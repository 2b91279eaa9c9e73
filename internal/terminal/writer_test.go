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
