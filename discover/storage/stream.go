package storage

import (
	"context"
	"io"
	"time"
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

// incompleteFor is how long after its last modification a file that is written in place may be incomplete. Writing takes
// microseconds, but a writer may be preempted between truncating and filling the file: on a busy machine OpenCode 1.1.65
// was SEEN to take more than 20 ms.
const incompleteFor = time.Second

// ReadComplete reads a file that its agent writes in place, and which may be empty or half-written for a moment. While
// the content is not complete and was modified in the last second, it is read again. Content that stays incomplete, or is
// older, is returned as it is; the caller must check it itself. ReadComplete returns within a second. For a set of files
// that were left incomplete at one time, the wait is one second in all.
func ReadComplete(ctx context.Context, path string, limit int64, whole func([]byte) bool) ([]byte, error) {
	return readComplete(ctx, path, limit, incompleteFor, whole)
}

func readComplete(ctx context.Context, path string, limit int64, settling time.Duration, whole func([]byte) bool) ([]byte, error) {
	const longest = 16 * time.Millisecond
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		data, changed, err := readFile(ctx, path, limit, NoFollow)
		if err != nil || whole(data) || UnchangedFor(time.Now(), changed) >= settling || time.Since(began) >= settling {
			return data, err
		}
		select {
		case <-ctx.Done():
			return data, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// TimeGranularity is how much older a change may be than a modification time without nanoseconds. File systems with such
// times count seconds (ext3, ext4 with inodes of 128 bytes, some of NFS) or pairs of seconds (FAT).
const TimeGranularity = 2 * time.Second

// UnchangedFor returns how long, at least, a file with this modification time had not changed at a moment. It is negative
// if the next change may leave the time as it is.
func UnchangedFor(at, modified time.Time) time.Duration {
	age := at.Sub(modified).Abs()
	if modified.Nanosecond() == 0 {
		age -= TimeGranularity
	}
	return age
}
