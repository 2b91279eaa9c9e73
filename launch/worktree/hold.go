package worktree

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"agentctl/discover/native/fsread"
)

// hold keeps other calls of ours from changing the repository's worktrees until it is released. Git does not do so: of
// two worktrees added in one directory at the same time, both may succeed (git 2.39). The lock is the kernel's, on the
// repository's own directory, and dies with us.
func (r *Repo) hold(ctx context.Context) (release func(), err error) {
	f, err := fsread.Dir(r.common)
	if err != nil {
		return nil, err
	}
	const pause = 10 * time.Millisecond // the kernel's own waiting cannot be ended
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", r.common, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}
