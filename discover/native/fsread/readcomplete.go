package fsread

import (
	"context"
	"time"
)

// incompleteFor is how long after its last change a file that is written in place may still be about to get its content.
// Writing one takes microseconds, but between emptying and filling it a writer may lose its core to others: on a busy
// machine OpenCode 1.1.65 was met more than 20 ms into it.
const incompleteFor = time.Second

// ReadComplete is [ReadFile] for a file that its agent writes in place, and which may be met empty or half-written: as
// long as it is not whole and has changed in the last second, it is read again. Content that is not whole even then,
// or has not been for longer, is returned as it is; the caller judges it by the same measure. It returns within a
// second, and files that were left torn at one time are not waited for one after the other.
func ReadComplete(ctx context.Context, path string, limit int64, whole func([]byte) bool) ([]byte, error) {
	return readComplete(ctx, path, limit, incompleteFor, whole)
}

func readComplete(ctx context.Context, path string, limit int64, settling time.Duration, whole func([]byte) bool) ([]byte, error) {
	const longest = 16 * time.Millisecond
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		data, changed, err := readFile(ctx, path, limit)
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

// TimeGranularity is how much younger a change may be than a time without nanoseconds says. Such times are those of file
// systems that count seconds (ext3, ext4 with inodes of 128 bytes, some of NFS) or pairs of them (FAT).
const TimeGranularity = 2 * time.Second

// UnchangedFor is how long at least, at a moment, a file had not changed whose modification time that is. It is less than 0 if
// the next change may bear the same time for long.
func UnchangedFor(at, modified time.Time) time.Duration {
	age := at.Sub(modified).Abs()
	if modified.Nanosecond() == 0 {
		age -= TimeGranularity
	}
	return age
}
