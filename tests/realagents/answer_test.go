package realagents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestAnswerAndLeftBehind: `launch --wait` prints the answer of a turn that leaves a server running. Once the session is resumed, the
// server belongs to it again: `status` shows it, and `stop` names it before and after it ends it. OpenCode's environment marker does
// not name the session, so that its server is an orphan.
func TestAnswerAndLeftBehind(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			c := agentctlIn(t, w).as(a)
			if err := os.WriteFile(filepath.Join(a.Dir(), "serve.js"), []byte(server), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"launch", r.Agent, "--wait", "-p", "serves [[shell (setsid " + node + " serve.js </dev/null >/dev/null 2>&1 &); until [ -s port ]; do sleep 0.1; done;; text It listens now.]]"}
			switch r.Agent {
			case install.ClaudeCode:
				args = append(args, "--", "--allowedTools=Bash")
			case install.Codex:
				args = append(args, "--permissions", "full") // its sandbox would not let the server listen
			}
			out, errs, code := c.run(args...)
			id, answer, _ := strings.Cut(out, "\n")
			if code != 0 || id != idOf(t, w, a, "serves [[shell") || answer != "It listens now.\n" {
				t.Errorf("launch: exit code %d\n%s%s", code, out, errs)
			}
			var port int
			if !poll(func() bool {
				text, _ := os.ReadFile(filepath.Join(a.Dir(), "port"))
				port, err = strconv.Atoi(string(text))
				return err == nil
			}) {
				t.Fatal("the server does not listen")
			}
			left := c.orphans()
			if len(left) != 1 || !slices.Equal(left[0].Ports, []int{port}) {
				t.Fatalf("orphans: %+v, want one that listens on %d", left, port)
			}
			if r.Agent == install.OpenCode {
				c.endsOrphan(left[0].PID)
			} else {
				c.endsLeftBehind(id, left[0].PID)
			}
			if left := inhabitants(w.Home); len(left) > 0 {
				t.Errorf("there are left\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

// endsOrphan ends the only orphan.
func (c agentctl) endsOrphan(pid int) {
	c.t.Helper()
	out, errs, code := c.run("stop", "--orphans", "--yes", "--json")
	var list []output.StopResult
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 || len(list[0].Signalled) != 1 || list[0].Signalled[0].PID != pid {
		c.t.Errorf("stop --orphans: exit code %d, %v\n%s%s", code, err, out, errs)
	}
}

// endsLeftBehind resumes a stopped session that has left a process behind, and stops it again.
func (c agentctl) endsLeftBehind(id string, pid int) {
	c.t.Helper()
	if out, errs, code := c.run("resume", "--timeout", "5m", id, "again [[hang]]"); code != 0 {
		c.t.Fatalf("resume: exit code %d\n%s%s", code, out, errs)
	}
	if left := c.orphans(); len(left) > 0 {
		c.t.Errorf("orphans of a session that was resumed: %+v", left)
	}
	if doing := c.doing(id); !slices.ContainsFunc(doing, func(p output.Process) bool { return p.PID == pid }) {
		c.t.Errorf("status does not show process %d: %+v", pid, doing)
	}
	if s := c.stopped(id, "--dry-run"); s.Result != "planned" || !slices.Equal(s.LeftBehind, []int{pid}) {
		c.t.Errorf("stop --dry-run: %+v, want process %d", s, pid)
	}
	if s := c.stopped(id); s.Result != "stopped" || !slices.Equal(s.LeftBehind, []int{pid}) || len(s.Survived) > 0 {
		c.t.Errorf("stop: %+v, want process %d", s, pid)
	}
}
