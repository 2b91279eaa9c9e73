package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// turnTimeout is how long others may take to change a directory: each needs some milliseconds, unless the disk is slow.
const turnTimeout = 10 * time.Second

// TakeTurn takes the exclusive lock of an open directory that several processes change one after the other. It waits until
// ctx ends, whose error it returns, and for ten seconds at most: then the error names the directory. Closing the
// directory frees the lock.
func TakeTurn(ctx context.Context, dir *os.File) error { return takeTurn(ctx, dir, turnTimeout) }

func takeTurn(ctx context.Context, dir *os.File, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := flock(limited, dir)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrHeld):
		return fmt.Errorf("locking %s: another process has had it locked for %v (see lsof %[1]s); end that process and try again", dir.Name(), timeout)
	}
	return fmt.Errorf("locking %s: %w", dir.Name(), err)
}
