package lock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Whoever waits for a turn that another process never ends is told the directory in time, and goes at the first interrupt.
func TestAWaitForATurnEnds(t *testing.T) {
	dir := t.TempDir()
	other, err := FlockWorkspace(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flockDirTimeout(t.Context(), dir, time.Millisecond); err == nil || !strings.Contains(err.Error(), dir+": another process") {
		t.Errorf("after the timeout: %v", err)
	}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := FlockDirTimeout(interrupted, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (Store{Dir: dir}).Remove(interrupted, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a store, interrupted: %v", err)
	}
	other.Release()
	mine, err := FlockDirTimeout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	mine.Release()
}
