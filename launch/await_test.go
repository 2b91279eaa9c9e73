package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
)

// never is a file that does not come.
const never = "await /nowhere/at/all"

func TestAwaitProvesTheSessionOfTheChild(t *testing.T) {
	for name, script := range map[string][]string{
		"by exact evidence":       {"store a", "run a", never},
		"behind a launcher":       {"shim", "store a", "run a", never},
		"before it is in storage": {"run a", never},
		"by its own words":        {"print session a", "store a", "run a", never},
	} {
		t.Run(name, func(t *testing.T) {
			p := puppets{store: t.TempDir()}
			world, c := stage(t, p, script...)
			s, err := Await(t.Context(), world, p, c)
			if err != nil || s.ID != "a" || s.Status != discover.Running || len(s.Processes) != 1 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// Another puppet runs a session of its own, in the same store and from the same moment on.
func TestAwaitTakesNoNeighbour(t *testing.T) {
	p := puppets{store: t.TempDir()}
	stage(t, p, "store b", "run b", never)
	open := filepath.Join(t.TempDir(), "go")
	world, c := stage(t, p, "await "+open, "store a", "run a", never)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &watch{world: world, agent: p, child: c}
	for range 3 {
		if s, done, err := w.look(ctx); done || err != nil || s.ID != "" {
			t.Fatalf("%q, %v, %v", s.ID, done, err)
		}
	}
	write(open, "")
	if s, err := Await(ctx, world, p, c); err != nil || s.ID != "a" {
		t.Errorf("%q, %v", s.ID, err)
	}
}

func TestAwaitTheEnd(t *testing.T) {
	p := puppets{store: t.TempDir()}
	world, c := stage(t, p, "print hello", "complain it broke", "exit 3")
	_, err := Await(t.Context(), world, p, c)
	if e := endedBy(t, err); e.Exit != (Exit{Code: 3}) || e.Words != "it broke" || e.Session != nil {
		t.Errorf("%+v", e)
	}
	world, c = stage(t, p, "store a", "run a", "print session a", "exit 4")
	_, err = Await(t.Context(), world, p, c)
	if e := endedBy(t, err); e.Exit.Code != 4 || e.Session == nil || e.Session.ID != "a" || e.Words != "session a" {
		t.Errorf("%+v", e)
	}
	world, c = stage(t, p, "store b", "print session b", "exit 0")
	if s, err := Await(t.Context(), world, p, c); err != nil || s.ID != "b" || s.Status != discover.Stopped {
		t.Errorf("%+v, %v", s, err)
	}
	world, c = stage(t, p, "exit 0")
	_, err = Await(t.Context(), world, p, c)
	if e := endedBy(t, err); e.Exit != (Exit{}) {
		t.Errorf("%+v", e)
	}
	world, c = stage(t, p, never)
	if err := unix.Kill(c.Process.ID.PID, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	_, err = Await(t.Context(), world, p, c)
	if e := endedBy(t, err); e.Exit != (Exit{Code: -1, Signal: unix.SIGUSR1}) {
		t.Errorf("%+v", e)
	}
}

// A turn that was there before the start proves nothing of a resumed session.
func TestAwaitTheNewTurn(t *testing.T) {
	p := puppets{store: t.TempDir(), chosen: "a", resume: true}
	record := filepath.Join(p.store, "a.session")
	write(record, time.Now().Add(-time.Hour).Format(time.RFC3339Nano))
	open := filepath.Join(t.TempDir(), "go")
	world, c := stage(t, p, "run a", "await "+open, "store a", never)
	w := &watch{world: world, agent: p, child: c}
	for w.proven.ID == "" {
		if _, done, err := w.look(t.Context()); done || err != nil {
			t.Fatal(done, err)
		}
	}
	w.at = w.at.Add(-time.Minute) // however long it takes
	if _, done, err := w.look(t.Context()); done || err != nil {
		t.Fatal("the old turn was taken for the new one", err)
	}
	write(open, "")
	if s, err := Await(t.Context(), world, p, c); err != nil || s.ID != "a" {
		t.Errorf("%+v, %v", s, err)
	}
}

// An agent that says nothing of its process is proven by the ID that only it was told.
func TestAwaitAChosenID(t *testing.T) {
	p := puppets{store: t.TempDir(), chosen: "chosen"}
	world, c := stage(t, p, "store chosen", never)
	if s, err := Await(t.Context(), world, p, c); err != nil || s.ID != "chosen" {
		t.Errorf("%+v, %v", s, err)
	}
	// Of a session that was there before, the ID alone proves nothing.
	p.resume = true
	world, c = stage(t, p, never)
	w := &watch{world: world, agent: p, child: c}
	if s, done, err := w.look(t.Context()); done || err != nil || s.ID != "" {
		t.Errorf("%q, %v, %v", s.ID, done, err)
	}
}

func TestAwaitLetsGo(t *testing.T) {
	p := puppets{store: t.TempDir()}
	world, c := stage(t, p, never)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := Await(ctx, world, p, c); !errors.Is(err, ErrUnproven) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := Await(ctx, world, p, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if now, err := proc.Inspect(c.Process.ID.PID); err != nil || now.ID != c.Process.ID || !now.Alive() {
		t.Errorf("the child did not go on: %v", err)
	}
}

func TestKillEndsAllThatWasStarted(t *testing.T) {
	p := puppets{store: t.TempDir()}
	_, c := stage(t, p, "shim", "shim", "run a", never)
	for {
		if found, _ := filepath.Glob(filepath.Join(p.store, "*.pid")); len(found) > 0 {
			break
		}
		select {
		case <-c.Ended():
			t.Fatal("it ended")
		case <-time.After(time.Millisecond):
		}
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	table, err := proc.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for x := range table.All() {
		if env, err := x.Env(puppetKey); err == nil && env[puppetKey] == p.store && x.ID.PID != os.Getpid() {
			t.Errorf("%s lives", x.ID)
		}
	}
}
