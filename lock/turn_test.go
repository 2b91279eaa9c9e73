package lock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"agentctl/discover/native/fsread"
)

// Whoever waits for a turn that another process never ends is told the directory in time, and goes at the first interrupt.
func TestAWaitForATurnEnds(t *testing.T) {
	dir := t.TempDir()
	other, err := Hold(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := fsread.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	if err := takeTurn(t.Context(), mine, time.Millisecond); err == nil || !strings.Contains(err.Error(), dir+": another process") {
		t.Errorf("after the timeout: %v", err)
	}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := TakeTurn(interrupted, mine); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (Store{Dir: dir}).Remove(interrupted, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a store, interrupted: %v", err)
	}
	if err := other.Release(); err != nil {
		t.Fatal(err)
	}
	if err := TakeTurn(t.Context(), mine); err != nil {
		t.Error(err)
	}
}
