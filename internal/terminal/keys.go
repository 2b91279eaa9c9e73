package terminal

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Key is a key that was typed: a character, a control character, or one of the named keys.
type Key rune

// The named keys. A paste is what the terminal types at once: its characters are between PasteBegin and PasteEnd.
const (
	Up Key = -1 - iota
	Down
	Home
	End
	PageUp
	PageDown
	PasteBegin
	PasteEnd
	Unknown
)

// Control characters that have a key of their own.
const (
	Tab       Key = '\t'
	Enter     Key = '\n' // the terminal turns a carriage return into it
	Escape    Key = 0x1b
	Backspace Key = 0x7f
)

// decodeKeys decodes what was typed. rest is the beginning of a sequence whose end is not there yet; with all, there is none,
// since nothing follows: a lone ESC is the key.
func decodeKeys(typed []byte, all bool) (keys []Key, rest []byte) {
	for len(typed) > 0 {
		k, n := decodeKey(typed, all)
		if n == 0 {
			return keys, typed
		}
		typed = typed[n:]
		keys = append(keys, k)
	}
	return keys, nil
}

// decodeKey decodes the first key and returns its length in bytes; 0 if its end is not there yet.
func decodeKey(typed []byte, all bool) (Key, int) {
	if typed[0] == byte(Escape) {
		return decodeSequence(typed, all)
	}
	if !all && !utf8.FullRune(typed) {
		return 0, 0
	}
	r, n := utf8.DecodeRune(typed)
	switch {
	case r == utf8.RuneError:
		return Unknown, n
	case r == '\r':
		return Enter, n
	case r == '\b':
		return Backspace, n
	}
	return Key(r), n
}

// decodeSequence decodes a key that begins with ESC: CSI with its parameters, SS3 with one character, or the key itself.
func decodeSequence(typed []byte, all bool) (Key, int) {
	switch {
	case len(typed) == 1 && !all:
		return 0, 0
	case len(typed) == 1, typed[1] != '[' && typed[1] != 'O':
		return Escape, 1
	}
	end := 2
	for typed[1] == '[' && end < len(typed) && typed[end] >= 0x20 && typed[end] < 0x40 {
		end++
	}
	switch {
	case end < len(typed):
		return named(string(typed[2:end]), typed[end]), end + 1
	case all:
		return Unknown, len(typed)
	}
	return 0, 0
}

// named returns the key of a sequence: its parameters, of which the first counts, and its last character (xterm, VT220).
func named(parameters string, final byte) Key {
	number, _, _ := strings.Cut(parameters, ";")
	if final != '~' {
		number = ""
	}
	return cmp.Or(map[string]Key{
		"A": Up, "B": Down, "H": Home, "F": End, "1~": Home, "7~": Home, "4~": End, "8~": End,
		"5~": PageUp, "6~": PageDown, "200~": PasteBegin, "201~": PasteEnd,
	}[number+string(final)], Unknown)
}

// sequenceTimeout is how long the rest of a key's sequence may take to arrive after its first byte. It is longer than the
// pauses of a slow line, and too short to be felt after ESC itself.
const sequenceTimeout = 50 * time.Millisecond

// readKeys reads keys from the terminal until stop is called. It closes the channel if the terminal is gone. It
// polls before each read: a pending read could not be cancelled, and would take a key meant for the next program.
func readKeys(in *os.File) (keys <-chan Key, stop func(), err error) {
	stopRead, stopWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, quit, done := make(chan Key), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		defer stopRead.Close()
		buf, typed := make([]byte, 256), []byte(nil)
		for {
			ready, stopped := waitForKey(in, stopRead, len(typed) > 0)
			if stopped {
				return
			}
			if ready {
				n, err := unix.Read(int(in.Fd()), buf)
				switch {
				case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
					continue
				case err != nil || n == 0:
					return
				}
				typed = append(typed, buf[:n]...)
			}
			var list []Key
			list, typed = decodeKeys(typed, !ready)
			for _, k := range list {
				select {
				case out <- k:
				case <-quit:
					return
				}
			}
		}
	}()
	return out, func() { close(quit); stopWrite.Close(); <-done }, nil
}

// waitForKey waits for input; with begun, which says that a sequence has begun, at most [sequenceTimeout]. stopped reports
// that the write end of stopRead is closed.
func waitForKey(in, stopRead *os.File, begun bool) (ready, stopped bool) {
	set := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(stopRead.Fd()), Events: unix.POLLIN}}
	timeout := -1
	if begun {
		timeout = int(sequenceTimeout.Milliseconds())
	}
	for {
		n, err := unix.Poll(set, timeout)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err != nil || set[1].Revents != 0
		}
	}
}

// interruptKey is what Ctrl-C types where the terminal makes no signal of it.
const interruptKey Key = 'c' - 'a' + 1

// WaitEnter shows a message, made for a number of columns, in the line of the cursor until a line or Ctrl-C is typed, the terminal
// is gone, or ctx has ended. It is for a terminal that [Request.Run] uses. It writes the message again and again: where a program was
// killed, another one may reset the terminal later, as the server of tmux does for its client.
func WaitEnter(ctx context.Context, in, out *os.File, message func(columns int) string) {
	keys, stop, err := readKeys(in)
	if err != nil {
		return
	}
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, unix.SIGINT)
	defer signal.Stop(interrupts)
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		columns, _ := terminalSize(out)
		_, _ = out.WriteString("\r\x1b[K" + message(columns-1)) // without a terminal there are no keys either
		select {
		case <-ctx.Done():
			return
		case <-interrupts:
			return
		case <-tick.C:
		case k, more := <-keys:
			if !more || k == Enter || k == interruptKey {
				return
			}
		}
	}
}
