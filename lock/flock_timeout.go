package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// FlockTimeout is how long to wait for the lock of a workspace: a launch or a check holds it for a moment only.
const FlockTimeout = time.Second

// changeTimeout is how long other processes may take to change a directory: each needs milliseconds, unless the disk is slow.
const changeTimeout = 10 * time.Second

// FlockDirTimeout takes the exclusive lock of a directory that several processes change one after the other. It waits until ctx
// ends, whose error it returns, and for ten seconds at most: then the error names the directory.
func FlockDirTimeout(ctx context.Context, dir string) (*Flock, error) {
	return flockDirTimeout(ctx, dir, changeTimeout)
}

func flockDirTimeout(ctx context.Context, dir string, timeout time.Duration) (*Flock, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	held, err := FlockDir(limited, dir)
	switch {
	case !errors.Is(err, ErrFlocked):
		return held, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("locking %s: another process has had it locked for %v (see lsof %[1]s); end that process and try again", dir, timeout)
}
