package launch

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
)

// launcher makes plans for a caller named "me", whose declared locks are in a folder of the test.
func planner(t *testing.T, p puppets) (Planner, lock.Store) {
	t.Helper()
	env := map[string]string{"USER": "me", "XDG_STATE_HOME": t.TempDir()}
	getenv := func(key string) string { return env[key] }
	homes := func(discover.Agent) discover.HomeSources { return discover.HomeSources{Getenv: getenv} }
	scanner := &discover.Scanner{
		Adapters: []discover.Adapter{p}, HomeSources: homes, ReadTable: proc.ReadTable, PID: os.Getpid(), UID: os.Geteuid(),
	}
	return Planner{Scanner: scanner, Getenv: getenv, Environ: os.Environ(), Now: time.Now}, lock.StoreFromEnv(getenv)
}

// over returns a context whose deadline has passed: what is locked is not waited for.
func over(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	t.Cleanup(cancel)
	return ctx
}

func TestAPlanHoldsItsWorkspaceUntilItIsReleased(t *testing.T) {
	dir := t.TempDir()
	l, _ := planner(t, puppets{store: t.TempDir()})
	plan, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir, Variables: []string{"COLOUR=blue"}})
	if err != nil || plan.Spec.Dir != dir || plan.Environment.Getenv("COLOUR") != "blue" {
		t.Fatalf("%+v, %v", plan, err)
	}
	occupied := (*OccupiedError)(nil)
	if _, err := l.Plan(over(t), puppets{}, Request{Dir: dir}); !errors.As(err, &occupied) || !occupied.Flocked {
		t.Errorf("a second plan: %v", err)
	}
	plan.Release()
	if held, err := lock.FlockWorkspace(over(t), dir); err != nil {
		t.Errorf("it is still held: %v", err)
	} else {
		held.Release()
	}
}

// A lock that the caller has declared keeps out an agent that the caller starts, unless it is forced.
func TestADeclaredLockRefusesAPlan(t *testing.T) {
	dir := t.TempDir()
	l, store := planner(t, puppets{store: t.TempDir()})
	workspace, err := lock.WorkspaceOf(dir)
	if err == nil {
		err = store.Declare(t.Context(), workspace, lock.DeclaredLock{Dir: workspace.Top, By: "me", Since: time.Now()}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	occupied := (*OccupiedError)(nil)
	if _, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir}); !errors.As(err, &occupied) || occupied.Flocked || len(occupied.Locks) != 1 {
		t.Errorf("%v", err)
	}
	if held, err := lock.FlockWorkspace(over(t), dir); err != nil {
		t.Errorf("a refused plan holds the workspace: %v", err)
	} else {
		held.Release()
	}
	l.Force = true
	if plan, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir}); err != nil || plan.Conflicts != nil {
		t.Errorf("forced: %v", err)
	}
}
