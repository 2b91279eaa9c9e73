package lock

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentctl/tests/must"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func workspace(t *testing.T, dir string) *Workspace {
	t.Helper()
	p, err := WorkspaceOf(dir)
	must.Do(t, err)
	return p
}

func TestDeclared(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "state [1", "locks")} // no pattern
	if list, err := s.List(noon); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	p := workspace(t, t.TempDir())
	d := DeclaredLock{By: "ana", Reason: "release\n\"1.0\"", Since: noon, Until: noon.Add(time.Hour)}
	must.Do(t, s.Declare(t.Context(), []*Workspace{p}, d, noon))
	if err := s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{By: "ben", Since: noon}, noon); !errors.Is(err, ErrAlreadyDeclared) {
		t.Errorf("a second lock: %v", err)
	}
	list, err := s.ForWorkspace(p, noon)
	if err != nil || len(list) != 1 || list[0].By != "ana" || list[0].Reason != d.Reason || !list[0].Until.Equal(d.Until) {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := s.List(d.Until); err != nil || len(list) != 0 {
		t.Errorf("an expired lock: %+v, %v", list, err)
	}
	if err := s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{By: "ben", Since: d.Until}, d.Until); err != nil {
		t.Errorf("over an expired lock: %v", err)
	}
	if list, err = s.List(d.Until); err != nil || len(list) != 1 || list[0].By != "ben" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := errors.Join(s.Remove(t.Context(), noon, list[0]), s.Remove(t.Context(), noon, list[0])); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(s.Dir); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

// Two names of one directory are one lock; that of a directory that is gone can still be taken back.
func TestDeclaredByAnotherName(t *testing.T) {
	s, dir := Store{t.TempDir()}, t.TempDir()
	p := workspace(t, dir)
	p.contains["/other/name"] = true
	must.Do(t, errors.Join(os.MkdirAll(s.Dir, 0o700), s.write(DeclaredLock{Dir: "/other/name", Since: noon})))
	if err := s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{Since: noon}, noon); !errors.Is(err, ErrAlreadyDeclared) {
		t.Errorf("by its own name as well: %v", err)
	}
	gone, err := MissingWorkspace("/other/name")
	must.Do(t, err)
	if list, err := s.ForWorkspace(gone, noon); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// What has taken the place of a lock since it was read stays; what has expired goes with any change.
func TestRemoveOnlyWhatWasMeant(t *testing.T) {
	s, p, later := Store{t.TempDir()}, workspace(t, t.TempDir()), noon.Add(time.Hour)
	first := DeclaredLock{Dir: p.Top, By: "ana", Since: noon, Until: later}
	must.Do(t, s.Declare(t.Context(), []*Workspace{p}, first, noon))
	first.File = s.file(p.Top)
	must.Do(t, s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{By: "ben", Since: later, Until: later.Add(time.Hour)}, later))
	must.Do(t, s.Remove(t.Context(), later, first))
	if list, err := s.List(later); len(list) != 1 || err != nil || list[0].By != "ben" {
		t.Errorf("%+v, %v", list, err)
	}
	must.Do(t, s.Remove(t.Context(), later.Add(time.Hour)))
	if files, err := os.ReadDir(s.Dir); len(files) != 0 || err != nil {
		t.Errorf("left: %v, %v", files, err)
	}
}

func TestOneOfManyDeclares(t *testing.T) {
	s, dir := Store{t.TempDir()}, t.TempDir()
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		p := workspace(t, dir)
		wg.Go(func() {
			switch err := s.Declare(t.Context(), []*Workspace{p}, DeclaredLock{Since: noon}, noon); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, ErrAlreadyDeclared):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have won", won.Load())
	}
}
