package realagents

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestResumeReturnsOnceTheMessageIsStored, also on a machine on which that takes long.
func TestResumeReturnsOnceTheMessageIsStored(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.Agent, func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			c := agentctlIn(t, w).as(a)
			a.Run("before").Wait()
			id := idOf(t, w, a, "before")
			c.expect(nil)
			before := c.status(id)
			for _, message := range []string{"message one", "message two"} {
				ends := occupy(t)
				out, errs, code := c.run("resume", "--timeout", "5m", id, message+" [[hang]]")
				stored := holds(t, before, message)
				ends()
				if code != 0 || strings.TrimSpace(out) != id {
					t.Fatalf("resume: exit code %d\n%s%s", code, out, errs)
				}
				if !stored {
					t.Errorf("resume has returned, and storage does not hold %q", message)
				}
				w.WaitCall(message, 0)
				pid := c.list()[0].PID
				kill(t, pid)
				c.expect(nil)
				released(t, w, pid, id)
			}
		})
	}
}

// released waits until the kernel has taken back what a killed process had: its number, and Codex's lock on the thread. A process
// is dead before that, as soon as none of its threads runs any more.
func released(t *testing.T, w *world.World, pid int, id string) {
	t.Helper()
	lock := filepath.Join(w.Home, ".codex", "thread-writer-locks", id+".lock")
	if !poll(func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		return errors.Is(err, fs.ErrNotExist) && isFree(t, lock)
	}) {
		t.Fatalf("process %d is still there, or %s is locked", pid, lock)
	}
}

// isFree reports whether nobody holds a lock on a file; one that does not exist is free. No Codex may be starting meanwhile.
func isFree(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // which gives the lock back
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// holds reports whether the storage of a session has a message of the user with that text, at once.
func holds(t *testing.T, s session, text string) bool {
	t.Helper()
	if s.Adapter != install.OpenCode {
		raw, err := os.ReadFile(s.Path)
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(raw)) {
			user := strings.Contains(line, `"role":"user"`) || strings.Contains(line, `"type":"user_message"`)
			if user && strings.Contains(line, text) {
				return true
			}
		}
		return false
	}
	db, err := sql.Open("sqlite3", "file:"+s.Path+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	err = db.QueryRow(`select count(*) from part p join message m on m.id = p.message_id
		where m.session_id = ? and m.data like '%"user"%' and instr(p.data, ?) > 0`, *s.ID, text).Scan(&n)
	return err == nil && n > 0
}
