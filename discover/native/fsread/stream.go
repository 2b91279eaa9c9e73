package fsread

import (
	"context"
	"io"
)

// ReadAll reads r to its end. It returns [ErrTooLarge] if there are more than limit bytes, of which it reads one. Memory
// grows with the content.
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

// ReadStream is [ReadAll] for a stream that may never end, such as a terminal or a pipe: it returns when ctx ends. It
// calls open first, which may block too, as opening a FIFO does. A goroutine that blocks stays until the process ends.
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

// LimitedBuffer is an io.Writer that keeps the first Limit bytes, for the output of a command. It drops the rest, or, with Strict, refuses it with
// [ErrTooLarge], which ends who writes it.
type LimitedBuffer struct {
	Limit     int
	Strict    bool
	data      []byte
	truncated bool
}

// Write accepts all of p, unless the buffer is strict.
func (b *LimitedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.Limit-len(b.data))]
	b.data, b.truncated = append(b.data, kept...), b.truncated || len(kept) < len(p)
	if b.Strict && b.truncated {
		return len(kept), tooLarge(int64(b.Limit))
	}
	return len(p), nil
}

// Bytes returns the bytes that were kept.
func (b *LimitedBuffer) Bytes() []byte { return b.data }

// Whole returns what was written, or [ErrTooLarge] if a part of it was dropped.
func (b *LimitedBuffer) Whole() ([]byte, error) {
	if b.truncated {
		return nil, tooLarge(int64(b.Limit))
	}
	return b.data, nil
}
