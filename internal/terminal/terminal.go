// Package terminal shows on a terminal what changes, redrawn in place, until the person has seen enough. However that
// ends – a key, a signal, an error, a panic – the terminal is left as it was.
package terminal

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// redrawInterval is how often a frame is drawn though nothing has changed: it may show ages.
const redrawInterval = time.Second

// Screen is a terminal, and what to show on it.
type Screen struct {
	// In and Out are the terminal, read from and written to.
	In, Out *os.File
	// Frame returns the lines of a frame, at most rows of them, none wider than columns.
	Frame func(columns, rows int) []string
	// Changed says that there is something new to draw. Once it is closed, all has been shown.
	Changed <-chan struct{}
}

// Show draws frames until q or Ctrl-C is typed, or Changed is closed; the error is nil then. It is [context.Canceled] if
// SIGTERM, SIGHUP or SIGQUIT ends it, or the terminal is gone. Ctrl-Z suspends it, and the terminal is the shell's until
// it goes on.
func (s *Screen) Show(ctx context.Context) error {
	m, err := enterScreenMode(s.In, s.Out)
	if err != nil {
		return err
	}
	defer m.restore()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, handledSignals()...)
	defer signal.Stop(signals)
	keys, stop, err := readKeys(s.In)
	if err != nil {
		return err
	}
	defer stop()
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		if err := s.draw(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case _, more := <-s.Changed:
			if !more {
				return nil
			}
		case key, more := <-keys:
			if !more {
				return context.Canceled
			}
			switch key {
			case 'q', 'Q':
				return nil
			case m.saved.Cc[unix.VSUSP]:
				m.restore()
				suspend()
				if err := m.enter(); err != nil {
					return err
				}
			}
		case sig := <-signals:
			if over, err := m.handleSignal(sig); over || err != nil {
				return err
			}
		}
	}
}

// handledSignals are the signals that a terminal's program has to do with. One that is to be ignored stays so.
func handledSignals() (list []os.Signal) {
	for _, sig := range []os.Signal{
		unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGCONT, unix.SIGWINCH,
	} {
		if !signal.Ignored(sig) {
			list = append(list, sig)
		}
	}
	return list
}

// handleSignal does what a signal asks for. The next frame shows what has come of it.
func (m *screenMode) handleSignal(sig os.Signal) (over bool, err error) {
	switch sig {
	case unix.SIGINT:
		return true, nil
	case unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT:
		return true, context.Canceled
	case unix.SIGCONT: // the terminal may have been used since we were stopped
		return false, m.enter()
	}
	return false, nil
}

// suspend stops this process and those that its shell has started with it, as the key does in any other program, and
// returns when they go on. SIGTSTP must not be heeded for that: Go does not unlearn it. The kernel lets processes that no
// shell looks after run on: then it goes on soon.
func suspend() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, unix.SIGCONT)
	defer signal.Stop(on)
	if unix.Kill(0, unix.SIGTSTP) != nil {
		return
	}
	late := time.NewTimer(redrawInterval)
	defer late.Stop()
	select {
	case <-on:
	case <-late.C:
	}
}

// draw writes a frame in one piece. Each line is cleared before it is written: behind one that fills the screen's whole
// width, the cursor still stands on its last character.
func (s *Screen) draw() error {
	columns, rows := terminalSize(s.Out)
	var b strings.Builder
	b.WriteString("\x1b[H")
	lines := s.Frame(columns, rows)
	for i, line := range lines[:min(len(lines), rows)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[2K" + line)
	}
	if len(lines) < rows {
		b.WriteString("\r\n\x1b[J")
	}
	_, err := s.Out.WriteString(b.String())
	if errors.Is(err, syscall.EIO) { // it was taken away
		return context.Canceled
	}
	return err
}

// terminalSize is the terminal's; one that does not tell is taken to have the usual one.
func terminalSize(f *os.File) (columns, rows int) {
	columns, rows = 80, 24
	if w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
		columns, rows = int(w.Col), int(w.Row)
	}
	return columns, rows
}
