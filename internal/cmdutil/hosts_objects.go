package cmdutil

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxObject bounds one object that a host prints, in bytes: the longest are messages with the output of a tool.
	maxObject = 32 << 20
	// maxArray bounds an array, whose objects are kept here until all have come. A stream of objects has no bound.
	maxArray = 256 << 20
)

// objects decodes the JSON that a host prints, an array or a stream, and calls do with each object.
type objects struct {
	out  io.WriteCloser
	done chan struct{}
	err  error
}

// decodeFunc decodes one object.
type decodeFunc func(*json.Decoder) (any, error)

func newObjects(decode decodeFunc, do func(any) error) *objects {
	in, out := io.Pipe()
	o := &objects{out: out, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.err = decodeObjects(in, decode, do)
		_ = in.CloseWithError(errors.Join(errUnreadAnswer, o.err))
	}()
	return o
}

// errUnreadAnswer tells the writer of an answer that it is not read on.
var errUnreadAnswer = errors.New("the answer is not read on")

// finish waits until all is decoded and returns the error of that.
func (o *objects) finish() error {
	_ = o.out.Close()
	<-o.done
	return o.err
}

// badAnswer is an answer that is not what the contract says.
type badAnswer struct{ err error }

func (e *badAnswer) Error() string { return "its answer is not understood: " + e.err.Error() }

func decodeObjects(in io.Reader, decode decodeFunc, do func(any) error) error {
	budget := &budget{in: in, left: maxObject}
	dec := json.NewDecoder(budget)
	array := false
	total := int64(0)
	for first := true; ; first = false {
		if first && opens(dec, budget) {
			array = true
		}
		if array && !dec.More() {
			_, err := dec.Token()
			return unlessEnd(err)
		}
		before := dec.InputOffset()
		object, err := decode(dec)
		if err != nil {
			return unlessEnd(err)
		}
		if total += dec.InputOffset() - before; array && total > maxArray {
			return &badAnswer{fmt.Errorf("it has more than %d MB", maxArray>>20)}
		}
		budget.left = maxObject
		if err := do(object); err != nil {
			return err
		}
	}
}

// unlessEnd is the error of an answer, nil at its end: that it is whole, the exit code says.
func unlessEnd(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return &badAnswer{err}
}

// opens reads the bracket that begins an array; false if something else begins.
func opens(dec *json.Decoder, b *budget) bool {
	if !b.startsWith('[') {
		return false
	}
	_, err := dec.Token()
	return err == nil
}

// budget is a reader that fails once it has read more than one object may have.
type budget struct {
	in    io.Reader
	left  int64
	ahead []byte
}

// Read implements [io.Reader].
func (b *budget) Read(p []byte) (int, error) {
	if len(b.ahead) > 0 {
		n := copy(p, b.ahead)
		b.ahead = b.ahead[n:]
		return n, nil
	}
	if b.left <= 0 {
		return 0, fmt.Errorf("an object has more than %d MB", maxObject>>20)
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// startsWith reports whether the input begins with a character.
func (b *budget) startsWith(c byte) bool {
	first := make([]byte, 1)
	for {
		n, err := b.in.Read(first)
		switch {
		case n == 0 && err != nil:
			return false
		case n == 0 || first[0] == '\n' || first[0] == ' ':
			continue
		}
		b.ahead = first
		return first[0] == c
	}
}
