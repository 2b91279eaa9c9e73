package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// turnTimeout is how long others may take to change a directory: each needs some milliseconds, unless the disk is slow.
const turnTimeout = 10 * time.Second

// TakeTurn takes the exclusive lock of a directory that several processes change one after the other. It waits until ctx
// ends, whose error it returns, and for ten seconds at most: then the error names the directory.
func TakeTurn(ctx context.Context, dir string) (*Held, error) { return takeTurn(ctx, dir, turnTimeout) }

func takeTurn(ctx context.Context, dir string, timeout time.Duration) (*Held, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	held, err := Exclusive(limited, dir)
	switch {
	case !errors.Is(err, ErrHeld):
		return held, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("locking %s: another process has had it locked for %v (see lsof %[1]s); end that process and try again", dir, timeout)
}
