package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"syscall"
)

// Hello is what a program says of itself before it runs anything.
type Hello struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Serve answers one request, that of a word of the command line or, if the word is "", of in: it says hello, runs the request and sends what that prints. Whatever
// follows in in, its end too, ends the request.
func Serve(ctx context.Context, word string, in io.Reader, out io.Writer, hello Hello, run func(ctx context.Context, r Request, stdout, stderr io.Writer) int) error {
	buffered := bufio.NewReader(in)
	request, err := readRequest(word, buffered)
	if err != nil {
		return err
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
		_, _ = buffered.ReadByte()
		cancel(errors.Join(context.Canceled, syscall.EPIPE)) // the caller no longer reads
	}()
	var mu sync.Mutex
	code := run(ctx, request, frameWriter{&mu, out, frameStdout}, frameWriter{&mu, out, frameStderr})
	return writeFrame(out, frameExit, []byte(strconv.Itoa(code)))
}
