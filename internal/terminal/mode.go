package terminal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// enterAltScreen goes to the terminal's other screen, empty, without a cursor; shut goes back.
	enterAltScreen = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
	leaveAltScreen = "\x1b[?25h\x1b[?1049l"
)

// screenMode is how a terminal was, and whether it is ours.
type screenMode struct {
	in, out *os.File
	saved   unix.Termios
	active  bool
}

// enterScreenMode makes the terminal ours.
func enterScreenMode(in, out *os.File) (*screenMode, error) {
	m := &screenMode{in: in, out: out}
	return m, m.enter()
}

// enter has keys come one by one and unseen, though those that end a program remain signals, and shows our screen. If the terminal
// is ours already, that is made sure of: a shell that had it meanwhile gives it back otherwise.
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
	now.Cc[unix.VSUSP] = 0 // it comes as a key: the terminal is given back first
	m.active = true
	if err := retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, now) }); err != nil {
		m.restore()
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	_, err = m.out.WriteString(enterAltScreen)
	return err
}

// restore leaves the terminal as it was. Nothing more can be done if that fails: then there is none any more.
func (m *screenMode) restore() {
	if !m.active {
		return
	}
	m.active = false
	_, _ = m.out.WriteString(leaveAltScreen)
	_ = retryEINTR(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, &m.saved) })
}

func retryEINTR(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
