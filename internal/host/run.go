package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxBanner bounds what a login shell may print before the answer, in bytes.
const maxBanner = 256 << 10

// Output takes what a program prints on a host.
type Output struct{ Stdout, Stderr io.Writer }

// Answer is how a request has ended.
type Answer struct {
	// Hello is what the program there says of itself, as far as it has.
	Hello Hello
	// Code is its exit code.
	Code int
}

// Run runs a request on a host, and returns when its ssh has ended. When ctx ends, the command there is ended, and what it still says is passed on.
// Errors: [UnreachableError], [MissingError], [VersionError], [CutError], [ErrSilent]; those of the writers and of the context.
func (s SSH) Run(ctx context.Context, destination string, r Request, to Output) (Answer, error) {
	marker := newMarker()
	word := r.word()
	p, err := s.start(destination, remoteCommand(marker, word), nil)
	if err != nil {
		return Answer{}, err
	}
	var answered atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		if p.hangUp(); !answered.Load() {
			p.end()
		}
	})
	defer stop()
	alarm := time.AfterFunc(answerTime, p.end)
	defer alarm.Stop()
	if word == "" {
		go func() { _ = send(p.stdin, r) }() // an error shows in what comes back
	}
	answer, err := receive(bufio.NewReader(p.stdout), marker, r.Schema, to, func() {
		answered.Store(true)
		alarm.Stop()
	})
	late := !answered.Load() && !alarm.Stop()
	ended := p.finish()
	cut, unanswered, version := (*CutError)(nil), (*UnreachableError)(nil), (*VersionError)(nil)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case late:
		return answer, ErrSilent
	case errors.As(err, &unanswered):
		unanswered.Reason = p.reason(ended)
	case errors.As(err, &cut) && cut.Reason == "":
		cut.Reason = p.reason(ended)
	case errors.As(err, &version) && version.Hello == Hello{} && isLost(ended):
		err = &CutError{p.reason(ended)}
	}
	return answer, err
}

func send(w io.Writer, r Request) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFrame(w, frameRequest, content)
}

// receive reads an answer. answered is called once it has begun.
func receive(in *bufio.Reader, marker, schema string, to Output, answered func()) (a Answer, err error) {
	if err := skipBanner(in, marker); err != nil {
		return a, err
	}
	if a.Hello, err = readHello(in); err != nil {
		return a, err
	}
	if a.Hello.Schema != schema {
		return a, &VersionError{a.Hello, schema}
	}
	answered()
	for {
		kind, content, err := readFrame(in, maxFrame)
		switch {
		case errors.Is(err, errFrame):
			return a, &CutError{err.Error()}
		case err != nil:
			return a, &CutError{}
		}
		switch kind {
		case frameStdout:
			_, err = to.Stdout.Write(content)
		case frameStderr:
			_, err = to.Stderr.Write(content)
		case frameExit:
			code, err := strconv.ParseUint(string(content), 10, 8)
			if err != nil {
				return a, &CutError{errFrame.Error()}
			}
			a.Code = int(code)
			return a, nil
		default:
			err = &CutError{errFrame.Error()}
		}
		if err != nil {
			return a, err
		}
	}
}

// skipBanner reads what a login shell prints, up to the line of the marker.
func skipBanner(in *bufio.Reader, marker string) error {
	for read := 0; read < maxBanner; {
		line, err := in.ReadSlice('\n')
		read += len(line)
		text, platform, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		switch {
		case err == nil && text == marker && platform != "":
			return &MissingError{platform}
		case err == nil && text == marker:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return &UnreachableError{}
		}
	}
	return &CutError{"its login shell prints more than can be an answer"}
}

// readHello reads which program answers. An older agentctl does not know the command and says nothing.
func readHello(in *bufio.Reader) (hello Hello, err error) {
	kind, content, err := readFrame(in, maxFrame)
	if err == nil && kind == frameHello {
		err = json.Unmarshal(content, &hello)
	}
	if err != nil || kind != frameHello {
		return Hello{}, &VersionError{}
	}
	return hello, nil
}
