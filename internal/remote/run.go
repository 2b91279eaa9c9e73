package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// Error says why the answer of a host is missing or incomplete.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Text }

// Kind is what can be done about an [Error].
type Kind int

const (
	Unreachable Kind = iota // ssh does not reach the host
	Shell                   // the login shell does not run the command
	Missing                 // there is no agentctl
	Version                 // its agentctl speaks another version of the JSON contract
	Silent                  // the host has stopped answering
	Cut                     // the connection, or the program there, has ended before the answer was complete
)

// Answer is how a request has ended.
type Answer struct {
	// Hello describes the program on the host, if it has sent its hello.
	Hello Hello
	// Code is its exit code.
	Code int
}

// maxBanner bounds what a login shell may print before the answer, in bytes.
const maxBanner = 256 << 10

// Run runs a request on a host, and returns when ssh has ended. When ctx ends, Run ends the command on the host, and passes on what it still prints.
// Errors: [Error]; those of the writers and of the context.
func (s SSH) Run(ctx context.Context, destination string, r Request, stdout, stderr io.Writer) (a Answer, err error) {
	marker := newMarker()
	command, stdin := r.command(marker)
	p, err := s.start(destination, command, nil, stderr)
	if err != nil {
		return a, err
	}
	var answered atomic.Bool
	defer context.AfterFunc(ctx, func() {
		if p.hangUp(); !answered.Load() {
			p.end(nil)
		}
	})()
	go func() { _, _ = p.stdin.Write(stdin) }() // an error shows in what comes back
	var banner tail
	a, err = receive(p.stdout, marker, r.Schema, &banner, stdout, func() { answered.Store(true) })
	return a, p.finish(ctx, err, &banner)
}

// receive reads an answer. An error without a text is explained by what ssh says. answered is called once the answer has begun.
func receive(in *bufio.Reader, marker, schema string, banner *tail, out io.Writer, answered func()) (a Answer, err error) {
	platform, err := skipBanner(in, marker, banner)
	if err != nil {
		return a, err
	}
	if platform != "" {
		return a, &Error{Missing, "it has no agentctl"}
	}
	line, err := in.ReadSlice('\n')
	words := strings.SplitN(strings.TrimSpace(string(line)), " ", 5)
	if err != nil || len(words) < 5 || words[0] != marker {
		return a, &Error{Version, "its agentctl is of a version that cannot be asked from here"}
	}
	if a.Hello = (Hello{words[1], words[2], words[3], words[4]}); a.Hello.Schema != schema {
		return a, &Error{Version, fmt.Sprintf("its agentctl %s prints %s, and this one reads %s", a.Hello.Version, a.Hello.Schema, schema)}
	}
	answered()
	end, err := copyUntil(out, in, marker)
	if err != nil {
		return a, err
	}
	code, err := strconv.ParseUint(end, 10, 8)
	if err != nil {
		return a, &Error{Kind: Cut}
	}
	a.Code = int(code)
	return a, nil
}

// skipBanner skips what a login shell prints, and returns what follows the marker.
func skipBanner(in *bufio.Reader, marker string, banner *tail) (string, error) {
	rest, err := copyUntil(writerFunc(func(text []byte) error {
		if banner.add(text) > maxBanner {
			return &Error{Shell, "its login shell prints more than can be an answer"}
		}
		return nil
	}), in, marker)
	if cut := (*Error)(nil); errors.As(err, &cut) && cut.Kind == Cut {
		err = &Error{Kind: Unreachable}
	}
	return rest, err
}

type writerFunc func([]byte) error

func (w writerFunc) Write(text []byte) (int, error) { return len(text), w(text) }

// copyUntil copies lines up to the one that begins with the marker, of which it returns the rest.
func copyUntil(out io.Writer, in *bufio.Reader, marker string) (rest string, err error) {
	for begins := true; ; {
		line, err := in.ReadSlice('\n')
		if text, ok := bytes.CutPrefix(line, []byte(marker)); ok && begins && err == nil {
			return string(bytes.TrimSpace(text)), nil
		}
		if _, err := out.Write(line); err != nil {
			return "", err
		}
		if begins = err == nil; err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", &Error{Kind: Cut}
		}
	}
}
