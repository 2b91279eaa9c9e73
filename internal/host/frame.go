package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// A frame is one line, its kind and the length of its content, and then the content.
type frameKind byte

const (
	frameRequest frameKind = 'r' // what to run
	frameHello   frameKind = 'h' // which program answers
	frameStdout  frameKind = 'o'
	frameStderr  frameKind = 'e'
	frameExit    frameKind = 'x' // the exit code; the last frame
)

const (
	// maxFrame bounds the content of a frame of output, in bytes. Longer output is split.
	maxFrame = 64 << 10
	// maxRequest bounds a request, in bytes: a prompt of the greatest length, in base64, and its context.
	maxRequest = 96 << 20
)

// errFrame means that a stream of frames has something else.
var errFrame = errors.New("it sends what agentctl does not")

// writeFrame writes one frame, by one call.
func writeFrame(w io.Writer, kind frameKind, content []byte) error {
	line := append([]byte{byte(kind), ' '}, strconv.Itoa(len(content))...)
	_, err := w.Write(append(append(line, '\n'), content...))
	return err
}

// readFrame reads one frame, whose content has at most limit bytes.
func readFrame(r *bufio.Reader, limit int) (frameKind, []byte, error) {
	header, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, nil, errFrame
	case err != nil:
		return 0, nil, err
	case len(header) < len("o 0\n") || header[1] != ' ':
		return 0, nil, errFrame
	}
	kind := frameKind(header[0])
	length, err := strconv.ParseUint(string(header[2:len(header)-1]), 10, 31)
	if err != nil || length > uint64(limit) {
		return 0, nil, fmt.Errorf("%w: a frame of %q bytes", errFrame, header[2:len(header)-1])
	}
	// What the peer says of the length is not believed: the buffer grows with what arrives.
	var content bytes.Buffer
	if _, err := io.CopyN(&content, r, int64(length)); err != nil {
		return 0, nil, err
	}
	return kind, content.Bytes(), nil
}

// frameWriter writes what a program prints in frames. Several of them share a lock.
type frameWriter struct {
	mu   *sync.Mutex
	out  io.Writer
	kind frameKind
}

func (w frameWriter) Write(text []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n < len(text) {
		part := text[n:min(len(text), n+maxFrame)]
		if err := writeFrame(w.out, w.kind, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}
