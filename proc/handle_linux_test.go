package proc

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func hold(t *testing.T, id ID) *Handle {
	t.Helper()
	h, err := Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestHandleSignalsAndWaits(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ended := make(chan error)
	go func() { ended <- h.Wait(t.Context()) }()
	if err := h.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// It is a zombie now, and takes no more signals.
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a zombie: %v", err)
	}
	var exit interface{ Sys() any }
	if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGTERM {
		t.Errorf("ended by %v", err)
	}
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a collected process: %v", err)
	}
	if err := h.Wait(t.Context()); err != nil {
		t.Errorf("second wait: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ctx, cancel := context.WithCancel(t.Context())
	patient := make(chan error, 1)
	go func() { patient <- h.Wait(t.Context()) }()
	var cancelled sync.WaitGroup
	for range 20 {
		cancelled.Go(func() {
			if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled wait: %v", err)
			}
		})
	}
	cancel()
	if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait with an ended context: %v", err)
	}
	cancelled.Wait()
	select {
	case err := <-patient:
		t.Errorf("the process lives, but a wait returned %v", err)
	default:
	}
	c.zombify(t)
	if err := <-patient; err != nil {
		t.Errorf("patient wait: %v", err)
	}
}

func TestClosedHandle(t *testing.T) {
	h := hold(t, inspect(t, os.Getpid()).ID)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Signal(0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("signal: %v", err)
	}
	if err := h.Wait(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("wait: %v", err)
	}
	if err := h.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}

// TestNoRecycledPIDIsAccepted makes 12,000 identities that differ from a living process's only in the birth.
func TestNoRecycledPIDIsAccepted(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 4 {
		start(t, "wait")
	}
	table := take(t)
	var living []Process
	for p := range table.All() {
		if h, err := Open(p.ID); err == nil {
			living = append(living, p)
			h.Close()
		}
	}
	for range 12_000 {
		p := living[random.IntN(len(living))]
		recycled := ID{p.ID.PID, otherBirth(random, p, living)}
		if recycled == p.ID {
			t.Fatalf("made no other birth of %+v", p)
		}
		if q, ok := table.Find(recycled); ok {
			t.Fatalf("the table finds %+v for %+v", q, recycled)
		}
		if _, err := Open(recycled); !errors.Is(err, ErrGone) {
			t.Fatalf("Open(%+v): %v", recycled, err)
		}
		p.ID = recycled
		if _, err := p.NamespacePIDs(); !errors.Is(err, ErrGone) {
			t.Fatalf("asking %+v: %v", recycled, err)
		}
	}
}

// otherBirth is that of an earlier or later process with the pid, of another boot, of another process, or torn.
func otherBirth(random *rand.Rand, p Process, living []Process) string {
	boot, _, _ := strings.Cut(p.ID.Birth, "/")
	for {
		ticks := p.Ticks
		switch random.IntN(5) {
		case 0:
			ticks -= 1 + random.Uint64N(p.Ticks+1)
		case 1:
			ticks += 1 + random.Uint64N(1<<20)
		case 2:
			boot = "00000000-0000-4000-8000-" + strconv.FormatUint(1<<47|random.Uint64N(1<<47), 16)
		case 3:
			if other := living[random.IntN(len(living))]; other.ID.Birth != p.ID.Birth {
				return other.ID.Birth
			}
			continue
		case 4:
			return p.ID.Birth[:random.IntN(len(p.ID.Birth))]
		}
		return boot + "/" + strconv.FormatUint(ticks, 10)
	}
}
