package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// enterAltScreen switches to the alternate screen, clears it, hides the cursor, has lines cut off at the right edge, and has
	// what is pasted marked; leaveAltScreen switches back.
	enterAltScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[H\x1b[2J"
	leaveAltScreen = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
	// resetModes undoes what a program that was killed has left on the terminal: colours, the keypad's and the cursor's modes,
	// mouse reports, marked pastes, kitty's keyboard protocol.
	resetModes = "\x1b[0m\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[?7h\x1b[?1049l"
)

// screenMode is the state of the terminal: its saved mode, and whether ours is active.
type screenMode struct {
	in, out *os.File
	saved   unix.Termios
	active  bool
}

// enterScreenMode saves the mode of the terminal and enters ours.
func enterScreenMode(in, out *os.File) (*screenMode, error) {
	m := &screenMode{in: in, out: out}
	return m, m.enter()
}

// enter disables line buffering and echo, and switches to the alternate screen. Keys that generate signals still
// do, except Ctrl-Z. If our mode is active already, enter sets it again: a shell that used the terminal meanwhile
// may have changed it.
func (m *screenMode) enter() error {
	now, err := unix.IoctlGetTermios(int(m.in.Fd()), getTermios)
	if err != nil {
		return fmt.Errorf("reading the terminal's mode: %w", err)
	}
	if !m.active {
		m.saved = *now
	}
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	now.Cc[unix.VSUSP] = disabledChar // delivered as a key, so that the terminal can be restored first
	m.active = true
	if err := retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, now) }); err != nil {
		m.restore()
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	_, err = m.out.WriteString(enterAltScreen)
	return err
}

// isSuspendKey reports whether a key suspends programs, as Ctrl-Z does as a rule. A terminal may have no such key.
func (m *screenMode) isSuspendKey(k Key) bool {
	c := m.saved.Cc[unix.VSUSP]
	return c != disabledChar && k == Key(c)
}

// lend restores the terminal, runs a function that may use it, and takes the terminal again. SIGINT is not ours meanwhile: a
// program in the foreground gets it from the terminal, too. Other signals end the context, and lend returns
// [context.Canceled].
func (m *screenMode) lend(ctx context.Context, signals <-chan os.Signal, run func(context.Context)) error {
	saved := m.saved
	m.restore()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		run(ctx)
	}()
	var ended error
	for {
		select {
		case panicked := <-done:
			err := m.reset(saved)
			switch {
			case panicked != nil:
				panic(panicked)
			case ended != nil || ctx.Err() != nil:
				return context.Canceled
			case err != nil:
				return err
			}
			return m.enter()
		case sig := <-signals:
			if isFinal(sig) {
				ended = context.Canceled
				cancel()
			}
		}
	}
}

// reset undoes what another program, which may have been killed, has left on the terminal.
func (m *screenMode) reset(saved unix.Termios) error {
	// tmux has its terminal not block (3.3a). A write of ours would then fail where the terminal is slow.
	for _, f := range []*os.File{m.in, m.out} {
		if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
			return fmt.Errorf("setting the terminal's mode: %w", err)
		}
	}
	if _, err := m.out.WriteString(resetModes); err != nil {
		return err
	}
	if err := retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, &saved) }); err != nil {
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	return nil
}

// restore restores the saved mode and the normal screen. It ignores errors: they mean that the terminal is gone.
func (m *screenMode) restore() {
	if !m.active {
		return
	}
	m.active = false
	_, _ = m.out.WriteString(leaveAltScreen)
	m.setSaved(true)
}

// setSaved sets the saved mode, with drain once the terminal has taken all output. It ignores errors, as restore does.
func (m *screenMode) setSaved(drain bool) {
	request := uint(setTermios)
	if !drain {
		request = setTermiosNow
	}
	_ = retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), request, &m.saved) })
}

// retryEINTR calls do until it is not interrupted by a signal.
func retryEINTR(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
