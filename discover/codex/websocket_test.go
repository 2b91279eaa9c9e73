package codex

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// A frame is read as a server may send it, and refused as no server sends it.
func TestReadFrame(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for name, test := range map[string]struct {
		in   string
		want frame
		err  error
	}{
		"text":       {"\x81\x02hi", frame{true, opText, []byte("hi")}, nil},
		"empty":      {"\x81\x00", frame{true, opText, nil}, nil},
		"a part":     {"\x01\x02hi", frame{false, opText, []byte("hi")}, nil},
		"16 bits":    {"\x81\x7e\x00\x03abc", frame{true, opText, []byte("abc")}, nil},
		"64 bits":    {"\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70" + long, frame{true, opText, []byte(long)}, nil},
		"ping":       {"\x89\x01p", frame{true, opPing, []byte("p")}, nil},
		"nothing":    {"", frame{}, io.EOF},
		"torn":       {"\x81", frame{}, io.ErrUnexpectedEOF},
		"torn size":  {"\x81\x7e\x00", frame{}, io.ErrUnexpectedEOF},
		"no size":    {"\x81\x7e", frame{}, io.ErrUnexpectedEOF},
		"torn text":  {"\x81\x05hi", frame{}, io.ErrUnexpectedEOF},
		"masked":     {"\x81\x82abcdhi", frame{}, errFrame},
		"reserved":   {"\xc1\x02hi", frame{}, errFrame},
		"long ping":  {"\x89\x7e\x00\x7e", frame{}, errFrame},
		"part ping":  {"\x09\x00", frame{}, errFrame},
		"very long":  {"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", frame{}, errMessageTooLong},
		"overflowed": {"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", frame{}, errMessageTooLong},
	} {
		got, err := readFrame(strings.NewReader(test.in), maxMessage)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", name, err, test.err)
		}
		if err == nil && (got.final != test.want.final || got.kind != test.want.kind || !bytes.Equal(got.payload, test.want.payload)) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// A frame has no more bytes than were sent, and what follows it changes nothing.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x81\x02hi"), []byte("\x81\x00"))
	f.Add([]byte("\x81\x7e\x00\x03abc"), []byte{})
	f.Add([]byte("\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x01a"), []byte("\xff"))
	f.Fuzz(func(t *testing.T, in, more []byte) {
		got, err := readFrame(bytes.NewReader(in), maxMessage)
		if err != nil {
			return
		}
		if len(got.payload) > len(in)-2 {
			t.Fatalf("%d bytes from %d", len(got.payload), len(in))
		}
		again, err := readFrame(bytes.NewReader(append(bytes.Clone(in), more...)), maxMessage)
		if err != nil || again.final != got.final || again.kind != got.kind || !bytes.Equal(again.payload, got.payload) {
			t.Errorf("%+v, with more behind it %+v, %v", got, again, err)
		}
	})
}
