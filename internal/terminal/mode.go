package terminal

import (
	"cmp"
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
	// mouse reports, marked pastes, kitty's keyboard protocol, the alternate screen. Unlike 1049, 1047 leaves the cursor where it is if the
	// normal screen is shown.
	resetModes = "\x1b[0m\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[?7h\x1b[?1047l"
)

// screenMode is the state of the terminal: its saved mode, and whether ours is active.
type screenMode struct {
	in, out *os.File
	saved   unix.Termios
	active  bool
}

// enter disables line buffering and echo, and switches to the alternate screen. Keys that generate signals still
// do, except Ctrl-Z. If our mode is active already, enter sets it again: a shell that used the terminal meanwhile
// may have changed it.
func (s *screenMode) enter() error {
	now, err := unix.IoctlGetTermios(int(s.in.Fd()), getTermios)
	if err != nil {
		return fmt.Errorf("reading the terminal's mode: %w", err)
	}
	if !s.active {
		s.saved = *now
	}
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	now.Cc[unix.VSUSP] = disabledChar // delivered as a key, so that the terminal can be restored first
	s.active = true
	if err := s.set(setTermios, now); err != nil {
		s.restore()
		return err
	}
	_, err = s.out.WriteString(enterAltScreen)
	return err
}

// isSuspendKey reports whether a key suspends programs, as Ctrl-Z does as a rule. A terminal may have no such key.
func (s *screenMode) isSuspendKey(k Key) bool {
	c := s.saved.Cc[unix.VSUSP]
	return c != disabledChar && k == Key(c)
}

// lend restores the terminal, runs a function that may use it, and takes the terminal again. SIGINT is not ours meanwhile: a
// program in the foreground gets it from the terminal, too. Other signals end the context, and lend returns
// [context.Canceled].
func (s *screenMode) lend(ctx context.Context, signals <-chan os.Signal, run func(context.Context)) error {
	s.restore()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	for {
		select {
		case <-done:
			if err := s.reset(); ctx.Err() != nil || err != nil {
				return cmp.Or(ctx.Err(), err)
			}
			return s.enter()
		case sig := <-signals:
			if isFinal(sig) {
				cancel()
			}
		}
	}
}

// reset undoes what another program, which may have been killed, has left on the terminal.
func (s *screenMode) reset() error {
	// tmux has its terminal not block (3.3a). A write of ours would then fail where the terminal is slow.
	for _, f := range []*os.File{s.in, s.out} {
		if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
			return fmt.Errorf("setting the terminal's mode: %w", err)
		}
	}
	if _, err := s.out.WriteString(resetModes); err != nil {
		return err
	}
	return s.set(setTermios, &s.saved)
}

// set sets a mode; a signal may interrupt the call.
func (s *screenMode) set(request uint, mode *unix.Termios) error {
	for {
		err := unix.IoctlSetTermios(int(s.in.Fd()), request, mode)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("setting the terminal's mode: %w", err)
		}
	}
}

// restore restores the saved mode and the normal screen. It ignores errors: they mean that the terminal is gone.
func (s *screenMode) restore() {
	if !s.active {
		return
	}
	s.active = false
	_, _ = s.out.WriteString(leaveAltScreen)
	_ = s.set(setTermios, &s.saved)
}

// Foreground reports whether our process group is the foreground process group of the terminal. If so, Ctrl-C and
// Ctrl-Z signal us and every process of the group.
func Foreground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
