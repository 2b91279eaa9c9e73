// Package terminal redraws changing output in place on a terminal, until the user quits. It restores the terminal
// however that ends: by a key, a signal, an error or a panic.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// redrawInterval is how often a frame is redrawn even if nothing has changed, since it may contain ages.
const redrawInterval = time.Second

// Screen is a terminal and its content.
type Screen struct {
	// In and Out are the terminal, opened for reading and for writing.
	In, Out *os.File
	// Frame returns the lines of a frame: at most rows lines, each at most columns wide.
	Frame func(columns, rows int) []string
	// Changed requests a redraw.
	Changed <-chan struct{}
	// Interval is how often a frame is drawn if nothing has changed; 0: every second.
	Interval time.Duration
	// Typed handles a key; nil: q quits.
	Typed func(Key) Request

	// drawn are the lines on the terminal, for this size; nil: all lines must be drawn.
	drawn         []string
	columns, rows int
	m             screenMode
	w             *writer
	signals       chan os.Signal
}

// Request is what a key asks the screen for; the zero value: for nothing but the next frame.
type Request struct {
	Quit bool
	// Run is run while the terminal has its own mode and screen, for another program that uses it. Its context ends when a
	// signal ends this program.
	Run func(context.Context)
}

// ErrInterrupted says that Ctrl-C has ended the display.
var ErrInterrupted = errors.New("interrupted by Ctrl-C")

// Show draws frames until a key quits; then it returns nil. It returns [ErrInterrupted] after Ctrl-C, and
// [context.Canceled] if SIGTERM, SIGHUP or SIGQUIT arrives, or if the terminal is gone. Then a further SIGHUP has no effect: that
// of a terminal that is gone may arrive late, and must not change the exit code. Ctrl-Z restores the terminal and suspends the process.
func (s *Screen) Show(ctx context.Context) (err error) {
	s.m = screenMode{in: s.In, out: s.Out}
	if err := s.m.enter(); err != nil {
		return err
	}
	s.w = newWriter(s.Out)
	s.signals = make(chan os.Signal, 8)
	signal.Notify(s.signals, handledSignals()...)
	defer func() {
		if errors.Is(err, unix.EIO) { // the terminal is gone
			err = context.Canceled
		}
		if errors.Is(err, context.Canceled) {
			signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
		}
		signal.Stop(s.signals)
	}()
	defer s.leave()
	keys, stop, err := readKeys(s.In)
	if err != nil {
		return err
	}
	defer func() {
		if stop != nil { // keys are read
			stop()
		}
	}()
	tick := time.NewTicker(cmp.Or(s.Interval, redrawInterval))
	defer tick.Stop()
	for due := true; ; {
		if due && !s.w.busy {
			s.draw()
			due = false
		}
		select {
		case err := <-s.w.done:
			if s.w.busy = false; err != nil {
				return err
			}
			continue
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case <-s.Changed:
		case key, more := <-keys:
			if !more {
				return context.Canceled
			}
			if s.m.isSuspendKey(key) {
				if err := s.suspend(ctx); err != nil {
					return err
				}
				continue
			}
			r := Request{Quit: key == 'q' || key == 'Q'}
			if s.Typed != nil {
				r = s.Typed(key)
			}
			switch {
			case r.Quit:
				return nil
			case r.Run != nil:
				stop()
				stop = nil
				if err := s.flush(ctx); err != nil {
					return err
				}
				if err := s.m.lend(ctx, s.signals, r.Run); err != nil {
					return err
				}
				if keys, stop, err = readKeys(s.In); err != nil {
					return err
				}
			}
		case sig := <-s.signals:
			switch {
			case sig == unix.SIGINT:
				return ErrInterrupted
			case isFinal(sig):
				return context.Canceled
			case sig == unix.SIGCONT: // other programs may have used the terminal meanwhile
				if err := s.flush(ctx); err != nil {
					return err
				}
				if err := s.m.enter(); err != nil {
					return err
				}
			}
		}
		due = true
	}
}

// handledSignals are the signals that Show handles. A signal that was ignored when the program started stays
// ignored.
func handledSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGCONT, unix.SIGWINCH}, signal.Ignored)
}

func isFinal(sig os.Signal) bool {
	return sig == unix.SIGTERM || sig == unix.SIGHUP || sig == unix.SIGQUIT
}

// flush waits until the terminal has taken what was written, and has the next frame drawn whole. It returns [context.Canceled] if a
// signal ends the program before.
func (s *Screen) flush(ctx context.Context) error {
	for s.w.busy {
		select {
		case err := <-s.w.done:
			if s.w.busy = false; err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case sig := <-s.signals:
			if sig == unix.SIGINT || isFinal(sig) {
				return context.Canceled
			}
		}
	}
	s.drawn = nil
	return nil
}

// leave restores the terminal at the end, even if it takes no output. It ignores errors: they mean that the terminal is gone.
func (s *Screen) leave() {
	defer s.w.close()
	if !s.m.active {
		return
	}
	s.m.active = false
	taken := s.w.clear()
	if taken {
		s.w.write(leaveAltScreen)
		taken = s.w.clear()
	}
	request := uint(setTermios)
	if !taken {
		request = setTermiosNow
	}
	_ = s.m.set(request, &s.m.saved)
}

// suspend gives the terminal to the shell until the process is continued.
func (s *Screen) suspend(ctx context.Context) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	s.m.restore()
	suspend()
	return s.m.enter()
}

// suspend stops the process group, as Ctrl-Z does in any other program, and returns when it is continued. It sends
// SIGTSTP to the group without a handler, since Go cannot restore the default action of a signal once it has been
// caught. The kernel does not stop an orphaned process group: then suspend returns after a timeout.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	if unix.Kill(0, unix.SIGTSTP) != nil {
		return
	}
	timeout := time.NewTimer(redrawInterval)
	defer timeout.Stop()
	select {
	case <-continued:
	case <-timeout.C:
	}
}

// draw writes the lines of a frame that have changed, with one write. It clears a line before it writes it: after a line
// that fills the whole width, the cursor is still on its last character, which a clear would erase.
func (s *Screen) draw() {
	columns, rows := terminalSize(s.Out)
	var b strings.Builder
	if s.drawn == nil || columns != s.columns || rows != s.rows {
		s.drawn, s.columns, s.rows = []string{}, columns, rows
		b.WriteString("\x1b[H\x1b[2J")
	}
	lines := s.Frame(columns, rows)
	lines = lines[:min(len(lines), rows)]
	for i, line := range lines {
		if i >= len(s.drawn) || s.drawn[i] != line {
			fmt.Fprintf(&b, "\x1b[%dH\x1b[2K%s", i+1, line)
		}
	}
	if len(lines) < len(s.drawn) {
		fmt.Fprintf(&b, "\x1b[%dH\x1b[J", len(lines)+1)
	}
	s.drawn = slices.Clone(lines)
	if b.Len() > 0 {
		s.w.write(b.String())
	}
}

// terminalSize returns the size of the terminal, or 80×24 if it is unknown.
func terminalSize(f *os.File) (columns, rows int) {
	columns, rows = 80, 24
	if w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
		columns, rows = int(w.Col), int(w.Row)
	}
	return columns, rows
}

// flushTimeout is how long the end of the program waits for a terminal that takes no output. A slow line takes some kilobytes
// meanwhile.
const flushTimeout = time.Second

// discardInterval is the time between two attempts to throw away what the terminal does not take.
const discardInterval = 10 * time.Millisecond

// writer writes to the terminal beside the loop of [Screen.Show], one text at a time: a terminal that is slow, or stopped by
// Ctrl-S, keeps no key and no signal waiting, and frames that it would not show in time are not made.
type writer struct {
	out   *os.File
	texts chan string
	// done has the error of a write that has ended.
	done chan error
	// busy: a write has not ended yet.
	busy bool
}

func newWriter(out *os.File) *writer {
	w := &writer{out: out, texts: make(chan string), done: make(chan error, 1)}
	go func() {
		for text := range w.texts {
			_, err := out.WriteString(text)
			w.done <- err
		}
		close(w.done)
	}()
	return w
}

// write begins to write a text. The writer must not be busy.
func (w *writer) write(text string) {
	w.busy = true
	w.texts <- text
}

// wait waits until the writer is not busy, at most for a time, and reports whether it is not.
func (w *writer) wait(limit time.Duration) bool {
	if !w.busy {
		return true
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-w.done: //nolint:errcheck // what cannot be written is lost: the program ends
		w.busy = false
	case <-timeout.C:
	}
	return !w.busy
}

// clear waits until the writer is not busy. What the terminal does not take in time is thrown away. It reports false if even
// that does not help.
func (w *writer) clear() bool {
	if w.wait(flushTimeout) {
		return true
	}
	for range flushTimeout / discardInterval { // each time, the rest of the text fills the kernel's buffer again
		if discardOutput(int(w.out.Fd())); w.wait(discardInterval) {
			return true
		}
	}
	return false
}

// close ends the writer, once its write has ended.
func (w *writer) close() {
	close(w.texts)
	if !w.busy {
		for range w.done { // it is closed at the end
		}
	}
}
