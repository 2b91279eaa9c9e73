//go:build linux && (amd64 || arm64)

package lock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/tests/must"
	"agentctl/tests/trace"
)

// killedAt runs a change and kills it at its nth change of the file system, before that is made. It reports whether it
// came that far.
func killedAt(t *testing.T, n int, order string) (reached bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), changerKey+"="+order)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	changes := 0
	r, err := trace.Kill(cmd, func(c trace.Call) bool {
		switch c.Effect {
		case trace.Create, trace.Write, trace.Truncate, trace.Rename, trace.Remove:
			if changes++; c.Path != "" && changes == n {
				reached = true
				return true
			}
		}
		return false
	})
	if err != nil || !reached && r.Exit != 0 {
		t.Fatalf("%s: exit %d, %v\n%s", order, r.Exit, err, &out)
	}
	return reached
}

// storeWithRefuse has an expired lock, and a draft that was left when its writer was killed.
func storeWithRefuse(t *testing.T) Store {
	t.Helper()
	s := Store{filepath.Join(t.TempDir(), "state", "locks")}
	elsewhere := workspace(t, t.TempDir())
	must.Do(t, s.Declare(t.Context(), []*Workspace{elsewhere}, DeclaredLock{Since: noon.Add(-time.Hour), Until: noon}, noon.Add(-time.Hour)))
	draft := filepath.Join(s.Dir, draftPrefix+"left"+draftExt)
	must.Do(t, os.WriteFile(draft, []byte("direc"), 0o600))
	return s
}

// whole is what the store says of the workspace; a lock that is there at all is there whole.
func whole(t *testing.T, s Store, p *Workspace) int {
	t.Helper()
	list, err := s.List(noon)
	if err != nil || len(list) > 1 || len(list) == 1 && (list[0].By != "ana" || list[0].Reason != "a reason" || list[0].Dir != p.Top) {
		t.Errorf("%+v, %v", list, err)
	}
	return len(list)
}

// clean takes the lock back when all that was left is old enough, and fails if anything stays.
func clean(t *testing.T, s Store) {
	t.Helper()
	later := time.Now().Add(time.Hour)
	list, err := s.List(later)
	if err := errors.Join(err, s.Remove(t.Context(), later, list...)); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(s.Dir); err != nil || len(files) > 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

// Whenever whoever declares a lock is killed, there is a whole lock or none, and the next one is not hindered.
func TestKilledDeclaring(t *testing.T) {
	p := workspace(t, t.TempDir())
	for n := 1; ; n++ {
		s := storeWithRefuse(t)
		reached := killedAt(t, n, fmt.Sprintf("declare %s %s", s.Dir, p.Top))
		there := whole(t, s, p)
		err := s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{By: "ana", Reason: "a reason", Since: noon}, noon)
		if there == 0 && err != nil || there == 1 && !errors.Is(err, ErrAlreadyDeclared) {
			t.Errorf("%d locks, and then declaring one: %v", there, err)
		}
		if whole(t, s, p) != 1 {
			t.Error("there is none")
		}
		if clean(t, s); t.Failed() {
			t.Fatalf("at change %d", n)
		}
		if !reached {
			if n < 6 {
				t.Errorf("only %d changes were seen", n-1)
			}
			return
		}
	}
}

// Whenever whoever takes a lock back is killed, it is there whole or not at all, and can be taken back.
func TestKilledRemoving(t *testing.T) {
	p := workspace(t, t.TempDir())
	for n := 1; ; n++ {
		s := storeWithRefuse(t)
		d := DeclaredLock{Dir: p.Top, By: "ana", Reason: "a reason", Since: noon}
		must.Do(t, s.write(d))
		reached := killedAt(t, n, fmt.Sprintf("remove %s %s", s.Dir, p.Top))
		if left := whole(t, s, p); !reached && left != 0 {
			t.Error("it is there still")
		}
		if clean(t, s); t.Failed() {
			t.Fatalf("at change %d", n)
		}
		if !reached {
			if n < 4 {
				t.Errorf("only %d changes were seen", n-1)
			}
			return
		}
	}
}
