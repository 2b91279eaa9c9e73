package terminal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// enterAltScreen switches to the alternate screen, clears it and hides the cursor; leaveAltScreen switches back.
	enterAltScreen = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
	leaveAltScreen = "\x1b[?25h\x1b[?1049l"
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
	now.Cc[unix.VSUSP] = 0 // delivered as a key, so that the terminal can be restored first
	m.active = true
	if err := retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, now) }); err != nil {
		m.restore()
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	_, err = m.out.WriteString(enterAltScreen)
	return err
}

// restore restores the saved mode and the normal screen. It ignores errors: they mean that the terminal is gone.
func (m *screenMode) restore() {
	if !m.active {
		return
	}
	m.active = false
	_, _ = m.out.WriteString(leaveAltScreen)
	_ = retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, &m.saved) })
}

// retryEINTR calls do until it is not interrupted by a signal.
func retryEINTR(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
