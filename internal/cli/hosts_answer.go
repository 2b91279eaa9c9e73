package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"agentctl/internal/object"
)

const (
	// maxObject bounds one object that a host prints, in bytes: the longest are messages with the output of a tool.
	maxObject = 32 << 20
	// maxArray bounds an array, whose objects are kept until all have arrived. A stream of objects has no bound.
	maxArray = 96 << 20
)

// objects decodes the JSON that a host prints, an array or a stream, and calls do with each object.
type objects struct {
	out  io.WriteCloser
	done chan struct{}
	err  error
}

func newObjects(newObject func() object.Answer, take func(object.Answer) error) *objects {
	in, out := io.Pipe()
	o := &objects{out: out, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		if o.err = decodeObjects(in, newObject, take); o.err == nil {
			_, _ = io.CopyN(io.Discard, in, maxObject) // blanks after an array
		}
		_ = in.CloseWithError(errors.Join(errUnreadAnswer, o.err))
	}()
	return o
}

// errUnreadAnswer tells the writer of an answer that the rest is not read.
var errUnreadAnswer = errors.New("the rest of the answer is not read")

// finish waits until everything is decoded, and returns the error.
func (o *objects) finish() error {
	_ = o.out.Close()
	<-o.done
	return o.err
}

// badAnswer is the error of an answer that breaks the contract.
type badAnswer struct{ err error }

func (e *badAnswer) Error() string { return "its answer is not understood: " + e.err.Error() }

// decodeObjects calls take with each object of an answer: an array of objects, or one after another.
func decodeObjects(in io.Reader, newObject func() object.Answer, take func(object.Answer) error) error {
	r := newObjectReader(in)
	array := r.opensArray()
	for {
		if array && !r.More() {
			_, err := r.Token()
			return unlessEnd(err)
		}
		if !array {
			r.start = r.InputOffset()
		}
		obj := newObject()
		err := r.decode(obj)
		if err == nil {
			err = BadAnswer(obj.Check())
		}
		if err == nil {
			err = r.next()
		}
		if err != nil {
			return unlessEnd(err)
		}
		if err := take(obj); err != nil {
			return err
		}
	}
}

// unlessEnd returns the error of an answer; nil at its end. The exit code tells whether the answer is complete.
func unlessEnd(err error) error {
	if bad := (*badAnswer)(nil); err == nil || errors.As(err, &bad) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return &badAnswer{err}
}

// objectReader reads the objects of an answer within the bounds.
type objectReader struct {
	*json.Decoder
	budget *budget
	// start is the offset of the array or, in a stream, of the current object.
	start int64
}

func newObjectReader(in io.Reader) *objectReader {
	b := &budget{in: bufio.NewReader(in), left: maxObject}
	return &objectReader{Decoder: json.NewDecoder(b), budget: b}
}

// next allows another object, or another part of a long one.
func (o *objectReader) next() error {
	if o.InputOffset()-o.start > maxArray {
		return &badAnswer{fmt.Errorf("it has more than %d MB", maxArray>>20)}
	}
	o.budget.left = maxObject
	return nil
}

// opensArray reads the bracket that begins an array; false if something else begins.
func (o *objectReader) opensArray() bool {
	for ; o.budget.left > 0; o.budget.left-- {
		c, err := o.budget.in.ReadByte()
		switch {
		case err != nil:
			return false // the next read returns it again
		case strings.ContainsRune(" \t\r\n", rune(c)):
			continue
		}
		_ = o.budget.in.UnreadByte() // it was just read
		if c != '[' {
			return false
		}
		_, err = o.Token()
		return err == nil
	}
	return false
}

// budget is a reader that fails once it has read more than one object may have.
type budget struct {
	in   *bufio.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an object has more than %d MB", maxObject>>20)
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// maxNesting bounds how deep sub-agents of an export are nested.
const maxNesting = 100

// decode decodes one object. The messages of an export are decoded one by one: a session may be longer than an object may be.
func (o *objectReader) decode(obj object.Answer) error {
	if e, ok := obj.(*object.Export); ok {
		return decodeExport(o, e, 0)
	}
	return o.Decode(obj)
}

func decodeExport(r *objectReader, e *object.Export, depth int) error {
	if depth > maxNesting {
		return &badAnswer{errors.New("its sub-agents are nested too deep")}
	}
	if err := expect(r, '{'); err != nil {
		return err
	}
	e.Messages = []object.Message{}
	for r.More() {
		key, err := r.Token()
		if err != nil {
			return err
		}
		switch key {
		case "session":
			err = r.Decode(&e.Session)
		case "messages":
			err = decodeList(r, func() error {
				e.Messages = append(e.Messages, object.Message{})
				return r.Decode(&e.Messages[len(e.Messages)-1])
			})
		case "missing":
			err = r.Decode(&e.Missing)
		case "children":
			err = decodeList(r, func() error {
				e.Children = append(e.Children, object.Export{})
				return decodeExport(r, &e.Children[len(e.Children)-1], depth+1)
			})
		default:
			err = r.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	return expect(r, '}')
}

func decodeList(r *objectReader, element func() error) error {
	if err := expect(r, '['); err != nil {
		return err
	}
	for r.More() {
		if err := element(); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return expect(r, ']')
}

func expect(r *objectReader, want json.Delim) error {
	token, err := r.Token()
	if err == nil && token != want {
		err = &badAnswer{errors.New("no export: something else stands where " + want.String() + " belongs")}
	}
	return err
}
