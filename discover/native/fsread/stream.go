package fsread

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// ReadAll reads r to its end, which comes after at most limit bytes; else the error is [ErrTooLarge]. Memory grows with what
// is read, and at most one byte too many is.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	return data, nil
}

// ReadStream is [All] of what may never come to its end, as a terminal or a pipe: it returns when ctx ends. The open function
// is called first; it may wait too, as opening a FIFO does. The goroutine that waits then lasts as long as the process.
func ReadStream(ctx context.Context, limit int64, open func() (io.ReadCloser, error)) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		r, err := open()
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer r.Close()
		data, err := ReadAll(r, limit)
		done <- result{data, err}
	}()
	select {
	case got := <-done:
		return got.data, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fdReader reads an open file from where it stands.
type fdReader int

func (d fdReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// LimitedBuffer is an io.Writer that keeps the first Limit bytes and drops the rest: for what a command prints, which goes on
// printing whether or not anybody reads it.
type LimitedBuffer struct {
	Limit     int
	data      []byte
	truncated bool
}

// Write takes all of p.
func (b *LimitedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.Limit-len(b.data))]
	b.data, b.truncated = append(b.data, kept...), b.truncated || len(kept) < len(p)
	return len(p), nil
}

// Bytes are those that were kept.
func (b *LimitedBuffer) Bytes() []byte { return b.data }

// Whole returns what was written, or [ErrTooLarge] if a part of it was dropped.
func (b *LimitedBuffer) Whole() ([]byte, error) {
	if b.truncated {
		return nil, tooLarge(int64(b.Limit))
	}
	return b.data, nil
}
