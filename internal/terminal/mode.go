package terminal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// open goes to the terminal's other screen, empty, without a cursor; shut goes back.
	open = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
	shut = "\x1b[?25h\x1b[?1049l"
)

// mode is how a terminal was, and whether it is ours.
type mode struct {
	in, out *os.File
	before  unix.Termios
	taken   bool
}

// take makes the terminal ours.
func take(in, out *os.File) (*mode, error) {
	m := &mode{in: in, out: out}
	return m, m.take()
}

// take has keys come one by one and unseen, though those that end a program remain signals, and shows our screen. If the terminal
// is ours already, that is made sure of: a shell that had it meanwhile gives it back otherwise.
func (m *mode) take() error {
	now, err := unix.IoctlGetTermios(int(m.in.Fd()), getTermios)
	if err != nil {
		return fmt.Errorf("reading the terminal's mode: %w", err)
	}
	if !m.taken {
		m.before = *now
	}
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	now.Cc[unix.VSUSP] = 0 // it comes as a key: the terminal is given back first
	m.taken = true
	if err := retry(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, now) }); err != nil {
		m.giveBack()
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	_, err = m.out.WriteString(open)
	return err
}

// giveBack leaves the terminal as it was. Nothing more can be done if that fails: then there is none any more.
func (m *mode) giveBack() {
	if !m.taken {
		return
	}
	m.taken = false
	_, _ = m.out.WriteString(shut)
	_ = retry(func() error { return unix.IoctlSetTermios(int(m.in.Fd()), setTermios, &m.before) })
}

func retry(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
