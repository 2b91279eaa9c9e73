package realagents

import (
	"database/sql"
	"os"
	"strings"
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
			const message = "the message"
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
		})
	}
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
