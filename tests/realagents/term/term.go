// Package term runs a program in a terminal that nobody looks at: a pseudo terminal with an emulator behind it,
// which draws what the program writes, answers what the program asks (cursor position, colours, modes), and lets
// a test wait for what stands on the screen.
package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Size of the screen in cells: wide enough that short prompts do not wrap.
const (
	Width  = 150
	Height = 50
)

// Terminal is a running terminal.
type Terminal struct {
	tty   *os.File
	ended chan struct{} // no program holds the terminal any more

	mu     sync.Mutex
	screen *vt.Emulator
	drawn  chan struct{} // closed and replaced by each change
}

// Start starts cmd as the leader of a session of its own, with the new terminal as its controlling one.
func Start(cmd *exec.Cmd) (*Terminal, error) {
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: Width, Rows: Height})
	if err != nil {
		return nil, err
	}
	tty, err := interruptible(master)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	t := &Terminal{tty: tty, ended: make(chan struct{}), screen: vt.NewEmulator(Width, Height), drawn: make(chan struct{})}
	go t.draw()
	go t.reply()
	return t, nil
}

// interruptible reopens the terminal so that closing it ends a read that waits.
func interruptible(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // before NewFile, which looks
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// Close takes the terminal away, as closing its window would: its programs get SIGHUP.
func (t *Terminal) Close() {
	_ = t.tty.Close()
	<-t.ended
}

// draw feeds the emulator until the last program has gone.
func (t *Terminal) draw() {
	defer close(t.ended)
	defer func() { _ = t.screen.InputPipe().(io.Closer).Close() }() // ends reply
	buf := make([]byte, 32<<10)
	for {
		n, err := t.tty.Read(buf)
		if n > 0 {
			t.mu.Lock()
			_, _ = t.screen.Write(buf[:n])
			close(t.drawn)
			t.drawn = make(chan struct{})
			t.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// reply carries the emulator's answers to the program.
func (t *Terminal) reply() {
	buf := make([]byte, 4<<10)
	for {
		n, err := t.screen.Read(buf)
		if err != nil {
			return
		}
		_, _ = t.tty.Write(buf[:n])
	}
}

// Send types as a person would: text, or a [Key].
func (t *Terminal) Send(text string) error {
	_, err := t.tty.WriteString(text)
	return err
}

// Screen is the text on the screen, and a channel that is closed when it changes.
func (t *Terminal) Screen() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String(), t.drawn
}

// WaitFor waits until the text is on the screen. Blanks and frames do not count, so that text is found in
// whatever way it is wrapped.
func (t *Terminal) WaitFor(ctx context.Context, text string) error {
	return t.WaitUntil(ctx, func(screen string) bool { return Contains(screen, text) })
}

// WaitUntil waits until the screen is as it should be.
func (t *Terminal) WaitUntil(ctx context.Context, good func(screen string) bool) error {
	for {
		screen, drawn := t.Screen()
		if good(screen) {
			return nil
		}
		select {
		case <-drawn:
		case <-t.ended:
			if screen, _ = t.Screen(); good(screen) {
				return nil
			}
			return errors.New("the program has ended")
		case <-ctx.Done():
			return fmt.Errorf("waiting for the screen: %w", ctx.Err())
		}
	}
}

// Contains reports whether the text is on the screen, as [Terminal.WaitFor] looks for it.
func Contains(screen, text string) bool { return strings.Contains(plain(screen), plain(text)) }

// Typed is Contains for what was typed just now: where it has a blank that a program saw no need to draw, the emulator may show
// a letter of what stood there before.
func Typed(screen, text string) bool {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = regexp.QuoteMeta(plain(word))
	}
	return regexp.MustCompile(strings.Join(words, ".?")).MatchString(plain(screen))
}

// plain drops blanks and the frames drawn around text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= 0x2500 && r < 0x25a0 {
			return -1
		}
		return r
	}, s)
}

// Key is what a terminal sends for a key.
type Key string

// Keys that agents' interfaces know.
const (
	Enter  Key = "\r"
	Escape Key = "\x1b"
	Tab    Key = "\t"
)

// Resize gives the terminal another size, in cells, and tells its programs.
func (t *Terminal) Resize(columns, rows int) error {
	t.mu.Lock()
	t.screen.Resize(columns, rows)
	t.mu.Unlock()
	return pty.Setsize(t.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
}
