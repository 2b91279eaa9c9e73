package proc

import (
	"errors"
	"slices"
	"testing"
)

// TestFactsOfEndedProcessStayCached: facts that were read before the process ended stay as they were; the others are
// ErrGone.
func TestFactsOfEndedProcessStayCached(t *testing.T) {
	c := start(t, "wait")
	p, ok := take(t).ByPID(c.Process.Pid)
	if !ok {
		t.Fatal("it is not in the table")
	}
	before, err := p.Args()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Env("HOME"); err != nil {
		t.Fatal(err)
	}
	c.end(t)
	if args, err := p.Args(); err != nil || !slices.Equal(args, before) {
		t.Errorf("%q, %v, want %q", args, err, before)
	}
	if _, err := p.Env("HOME"); err != nil {
		t.Errorf("what was asked for before: %v", err)
	}
	if _, err := p.Env("HOME", "PATH"); !errors.Is(err, ErrGone) {
		t.Errorf("what was not asked for: %v", err)
	}
	if _, err := p.Cwd(); !errors.Is(err, ErrGone) {
		t.Errorf("what was not asked for: %v", err)
	}
	mustAllBeGone(t, p.Uncached())
}
