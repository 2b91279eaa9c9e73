package realagents

import (
	"encoding/json"
	"fmt"
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

// server is a program that listens on a port and says in a file on which.
const server = `const s = require("net").createServer().listen(0, "127.0.0.1", () => {
	require("fs").writeFileSync("port.new", String(s.address().port))
	require("fs").renameSync("port.new", "port")
})
`

// TestOrphans: what a killed session left behind is found with its port, and ended. While it lives, it is in the metrics.
func TestOrphans(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			c := agentctlIn(t, w)
			tool := w.Tool(a.Dir())
			if err := os.WriteFile(filepath.Join(a.Dir(), "serve.js"), []byte(server), 0o600); err != nil {
				t.Fatal(err)
			}
			var args []string
			if r.Agent == install.Codex {
				args = []string{"--dangerously-bypass-approvals-and-sandbox"} // which would not let it listen
			}
			p := a.Run("serves [[shell "+node+" serve.js & "+tool.Command+"]]", args...)
			tool.WaitRunning()
			var port int
			if !poll(func() bool {
				text, _ := os.ReadFile(filepath.Join(a.Dir(), "port"))
				port, err = strconv.Atoi(string(text))
				return err == nil
			}) {
				t.Fatal("the server does not listen")
			}
			id := idOf(t, w, a, "serves [[shell")
			if left := c.orphans(); len(left) > 0 {
				t.Errorf("while the session lives: %+v", left)
			}
			if doing := c.doing(id); !slices.ContainsFunc(doing, func(p output.Process) bool {
				return slices.Equal(p.Ports, []int{port}) && strings.HasSuffix(p.Command, "node serve.js") && p.CPU != nil && *p.Memory > 10<<20
			}) {
				t.Errorf("nobody listens on %d in the session's processes: %+v", port, doing)
			}
			metrics, _, _ := c.run("metrics")
			for _, line := range []string{
				fmt.Sprintf(`agentctl_sessions{adapter=%q,status="running"} 1`, r.Agent), fmt.Sprintf(`agentctl_session_memory_bytes{adapter=%q,session=%q} `, r.Agent, id),
			} {
				if !strings.Contains(metrics, "\n"+line) {
					t.Errorf("metrics say nothing of %s:\n%s", line, metrics)
				}
			}
			p.Kill()

			var o output.Orphan
			if !poll(func() bool { // a process with many threads takes its time to die
				left := c.orphans()
				i := slices.IndexFunc(left, func(o output.Orphan) bool { return slices.Contains(o.Ports, port) })
				if i >= 0 {
					o = left[i]
				}
				return i >= 0
			}) {
				t.Fatalf("nobody listens on %d in %+v", port, c.orphans())
			}
			if o.Adapter != r.Agent || !strings.HasSuffix(o.Command, "node serve.js") ||
				(o.SessionID == nil) != (r.Agent == install.OpenCode) || o.SessionID != nil && *o.SessionID != id {
				t.Errorf("of session %s: %+v", id, o)
			}
			if out, errs, code := c.run("stop", "--orphans", "--yes"); code != 0 {
				t.Errorf("stop: exit code %d\n%s%s", code, out, errs)
			}
			if left := inhabitants(w.Home); len(left) > 0 {
				t.Errorf("there are left\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

// orphans are those that list shows.
func (c agentctl) orphans() (list []output.Orphan) {
	c.t.Helper()
	out, errs, code := c.run("list", "--orphans", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		c.t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	return list
}

// doing is the process tree that status shows of a session.
func (c agentctl) doing(id string) []output.Process {
	c.t.Helper()
	return c.status(id).Processes
}

// doingAlone are the processes of a session in a shared process that are its alone. The shared one stands above them.
func (c agentctl) doingAlone(id string, shared int) (pids []int) {
	c.t.Helper()
	tree := c.doing(id)
	if len(tree) == 0 || tree[0].PID != shared || !tree[0].Shared {
		c.t.Fatalf("it is not below %d: %+v", shared, tree)
	}
	for _, p := range tree[1:] {
		if !p.Shared && p.Adapter == "" {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func sameSet(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
