package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"
)

// Request says what a host is to run.
type Request struct {
	// Schema is the $id of the JSON that the caller understands. A program that prints another one runs nothing.
	Schema string `json:"schema"`
	// Args are the arguments, without the program's name.
	Args []string `json:"args"`
	// Stdin is what the program reads there.
	Stdin []byte `json:"stdin,omitempty"`
}

// Hello is what a program says of itself before it runs anything.
type Hello struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Serve answers one request: it says hello, runs the request and sends what that prints. Whatever follows in in, its end too, is the caller's wish to end it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, hello Hello, run func(ctx context.Context, r Request, stdout, stderr io.Writer) int) error {
	buffered := bufio.NewReader(in)
	kind, content, err := readFrame(buffered, maxRequest)
	var request Request
	if err == nil && kind == frameRequest {
		err = json.Unmarshal(content, &request)
	} else if err == nil {
		err = errFrame
	}
	if err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	greeting, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := writeFrame(out, frameHello, greeting); err != nil || request.Schema != hello.Schema {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = buffered.ReadByte()                           // whatever follows the request ends it, as the end of stdin does
		cancel(errors.Join(context.Canceled, syscall.EPIPE)) // nobody reads any more
	}()
	var mu sync.Mutex
	code := run(ctx, request, frameWriter{&mu, out, frameStdout}, frameWriter{&mu, out, frameStderr})
	return writeFrame(out, frameExit, []byte(strconv.Itoa(code)))
}
