package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// fakeSystem is a system whose files change and whose processes end when a test says so, and on which each snapshot takes
// time.
type fakeSystem struct {
	mu        sync.Mutex
	files     map[string]fileStamp
	exits     map[proc.ID]chan struct{}
	cost      time.Duration   // of a snapshot
	snapshots []time.Duration // when, since the start
	start     time.Time
}

func newFakeSystem(cost time.Duration) *fakeSystem {
	return &fakeSystem{files: map[string]fileStamp{}, exits: map[proc.ID]chan struct{}{}, cost: cost, start: time.Now()}
}

func (m *fakeSystem) write(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.files[path]
	s.size++
	m.files[path] = s
}

func (m *fakeSystem) exitOf(id proc.ID) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exits[id] == nil {
		m.exits[id] = make(chan struct{})
	}
	return m.exits[id]
}

func (m *fakeSystem) system() system {
	return system{
		ended: func(ctx context.Context, id proc.ID) error {
			select {
			case <-m.exitOf(id):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		stamp:           func(path string) fileStamp { m.mu.Lock(); defer m.mu.Unlock(); return m.files[path] },
		now:             time.Now,
		startedBinaries: func() ([]string, error) { return nil, nil },
	}
}

// watch takes snapshots of a session of one file and one process until the time is up.
func (m *fakeSystem) watch(t *testing.T, d time.Duration) {
	t.Helper()
	s := discover.Session{Record: &discover.Record{Agent: "codex", Path: "/f"}, Processes: []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}}
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	p := newPoller(&discover.Scanner{})
	p.system = m.system()
	defer p.close()
	for {
		p.watch(ctx, []discover.Session{s})
		if len(m.snapshots) > 0 {
			if err := p.wait(ctx); err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
				return
			}
		}
		p.snapshotBegan()
		m.snapshots = append(m.snapshots, time.Since(m.start))
		<-time.After(m.cost)
		p.snapshotEnded()
	}
}

// between counts the snapshots in a window of time.
func (m *fakeSystem) snapshotsBetween(from, to time.Duration) (n int) {
	for _, at := range m.snapshots {
		if from <= at && at <= to {
			n++
		}
	}
	return n
}

func TestAProcessExitTriggersASnapshotAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeSystem(100 * time.Millisecond) // an expensive snapshot, but an exit does not wait
		const end = 7*time.Second + 100*time.Millisecond
		time.AfterFunc(end, func() { close(m.exitOf(proc.ID{PID: 7, Birth: "b"})) })
		m.watch(t, 9*time.Second)
		if m.snapshotsBetween(end, end) != 1 {
			t.Errorf("no snapshot at %s: %v", end, m.snapshots)
		}
	})
}

// The stamps of a real file differ after it is created, grows, and is replaced by another of the same size and time.
func TestFileStampsDiffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	seen := map[fileStamp]string{stampOf(path): "missing"}
	when := time.Unix(1e9, 0)
	put := func(name, text string) {
		must.Do(t, os.WriteFile(path+name, []byte(text), 0o600))
		must.Do(t, os.Chtimes(path+name, when, when))
	}
	check := func(what string) {
		if old, ok := seen[stampOf(path)]; ok {
			t.Errorf("the stamp after %s is that of %s", what, old)
		}
		seen[stampOf(path)] = what
	}
	put("", "a")
	check("created")
	put("", "ab")
	check("grown")
	put(".new", "cd")
	must.Do(t, os.Rename(path+".new", path))
	check("replaced")
	when = when.Add(time.Nanosecond)
	put("", "ef")
	check("rewritten")
}
