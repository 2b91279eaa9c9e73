package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"agentctl/discover/native/fsread"
)

// ErrFlocked says that another process holds the directory.
var ErrFlocked = errors.New("another process holds the directory")

// Flock is a kernel lock on a directory (flock(2)). The kernel frees it when the last process that holds it closes it or ends,
// in whatever way.
type Flock struct{ dir *os.File }

// FlockWorkspace takes the lock of the workspace that contains dir. The lock is on the top directory itself: no file is
// written. While another process has it, FlockWorkspace waits until ctx ends, and then fails with [ErrFlocked]. The error is an
// [fs.PathError] if the directory cannot be opened.
func FlockWorkspace(ctx context.Context, dir string) (*Flock, error) {
	key, err := Key(dir)
	if err != nil {
		return nil, err
	}
	return FlockDir(ctx, key)
}

// FlockDir opens a directory and takes its exclusive lock. It is [FlockWorkspace] for any directory.
func FlockDir(ctx context.Context, dir string) (*Flock, error) {
	f, err := fsread.OpenDirFile(dir)
	if err != nil {
		return nil, err
	}
	if err := flock(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return &Flock{f}, nil
}

// flock takes the exclusive lock of an open directory, or fails with [ErrFlocked] when ctx ends. It polls, since waiting in the
// kernel cannot be cancelled.
func flock(ctx context.Context, dir *os.File) error {
	const pause = 10 * time.Millisecond
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking %s: %w", dir.Name(), err)
		}
		select {
		case <-ctx.Done():
			return ErrFlocked
		case <-time.After(pause):
		}
	}
}

// File returns the open directory, for a process that is to inherit the lock.
func (h *Flock) File() *os.File { return h.dir }

// Release frees the lock. Of nil it does nothing.
func (h *Flock) Release() {
	if h != nil {
		h.dir.Close()
	}
}
