package storage

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadParallel calls read for all items on a few goroutines, and yields the results in any order: a value if ok, an error if there is
// one. read gets the context of its goroutine, an item, and a zero value to read it into. ReadParallel ends early, leaving no
// goroutine, when the consumer stops or ctx ends.
func ReadParallel[T, R any](ctx context.Context, items []T, read func(context.Context, T, *R) (ok bool, err error)) iter.Seq2[*R, error] {
	type result struct {
		value *R
		err   error
	}
	return func(yield func(*R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		results, large := make(chan result, waitingResults), make(chan struct{}, 1)
		var next atomic.Int64 // the first item that no reader has taken
		var readers sync.WaitGroup
		defer readers.Wait()
		defer cancel()
		for range min(2*runtime.GOMAXPROCS(0), len(items)) {
			readers.Go(func() {
				ctx := context.WithValue(ctx, readerKey{}, &reader{large: large})
				for ctx.Err() == nil {
					at := next.Add(1) - 1
					if at >= int64(len(items)) {
						return
					}
					r := result{value: new(R)}
					ok, err := read(ctx, items[at], r.value)
					if r.err = err; !ok && err == nil {
						continue
					}
					select {
					case results <- r:
					case <-ctx.Done():
					}
				}
			})
		}
		go func() {
			readers.Wait()
			close(results)
		}()
		for r := range results {
			if !yield(r.value, r.err) {
				return
			}
		}
	}
}

// waitingResults is how many results may wait for the consumer.
const waitingResults = 64

// FilterParallel returns those of some items that keep returns true for, in any order. It calls keep on a few goroutines. Once ctx ends
// it returns what it has.
func FilterParallel[T any](ctx context.Context, items []T, keep func(context.Context, T) bool) (kept []T) {
	for item, err := range ReadParallel(ctx, items, func(ctx context.Context, item T, into *T) (bool, error) {
		*into = item
		return keep(ctx, item), nil
	}) {
		if err == nil { // keep has none
			kept = append(kept, *item)
		}
	}
	return kept
}

// largeThreshold is the size in bytes from which a piece of memory is large: one for a line of many megabytes, or for an
// uncompressed file. One goroutine of a call has large memory at a time, so that a store of hostile files does not make
// sixteen readers allocate as much each.
const largeThreshold = 1 << 20

// reader is one of the goroutines of [ReadParallel].
type reader struct {
	large chan struct{} // the lock of the call: who has sent to it has large memory
	depth int           // how often this reader has acquired it
	buf   []byte        // what the last file was read into; nil while it is in use
}

// readerKey is the context key of a goroutine's *reader.
type readerKey struct{}

func readerOf(ctx context.Context) *reader {
	r, _ := ctx.Value(readerKey{}).(*reader)
	return r
}

// takeBuffer returns the memory that the last file of the reader was read into. New memory for each file would cost half as much as
// reading it.
func (f *File) takeBuffer() (buf []byte) {
	if r := readerOf(f.ctx); r != nil {
		buf, r.buf = r.buf, nil
	}
	return buf
}

// returnBuffer keeps memory for the next file, unless it is large.
func (f *File) returnBuffer(buf []byte) {
	if r := readerOf(f.ctx); r != nil && cap(buf) <= largeThreshold {
		r.buf = buf
	}
}

// AcquireLarge waits until no other reader of the call has large memory, and locks others out until release is called. It
// may be called again by the reader that holds the lock. The error is that of the call's context.
func (f *File) AcquireLarge() (release func(), err error) {
	r := readerOf(f.ctx)
	if r == nil {
		return func() {}, nil
	}
	if r.depth == 0 {
		select {
		case r.large <- struct{}{}:
		case <-f.ctx.Done():
			return nil, context.Cause(f.ctx)
		}
	}
	r.depth++
	return func() {
		if r.depth--; r.depth == 0 {
			<-r.large
		}
	}, nil
}

// largeLease is a line reader's hold on the lock, from when it needs large memory until it is done.
type largeLease struct {
	file *File
	free func()
}

// ensure acquires the lock if n bytes are large.
func (h *largeLease) ensure(n int) (err error) {
	if n > largeThreshold && h.free == nil {
		h.free, err = h.file.AcquireLarge()
	}
	return err
}

func (h *largeLease) release() {
	if h.free != nil {
		h.free()
	}
}
