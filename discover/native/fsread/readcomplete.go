package fsread

import (
	"context"
	"time"
)

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
