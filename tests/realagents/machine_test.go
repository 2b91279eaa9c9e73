package realagents

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestAgentInsideOfAnother has a tree of its own, with what its tools have cut loose; in the other one it is named.
func TestAgentInsideOfAnother(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	w := world.New(t)
	outer, inner := w.Claude(install.ClaudeCurrent), w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w)
	tool := w.Tool(inner.Dir())
	in := func(name string) string { return filepath.Join(inner.Dir(), name) }
	err = errors.Join(
		os.WriteFile(in("serve.js"), []byte(server), 0o600),
		os.WriteFile(in("prompt"), []byte("inner [[shell (setsid "+node+" serve.js &) ; "+tool.Command+"]]"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	outer.Run("outer [[shell cd " + inner.Dir() + " && " + inner.Native + " exec --dangerously-bypass-approvals-and-sandbox - <prompt]]")
	tool.WaitRunning()
	if !poll(func() bool { _, err := os.Stat(in("port")); return err == nil }) {
		t.Fatal("the server does not listen")
	}
	id := codexID(t, w, "inner [[")
	serves := func(p output.Process) bool { return strings.HasSuffix(p.Command, "node serve.js") }
	if tree := c.doing(id); !slices.ContainsFunc(tree, func(p output.Process) bool { return serves(p) && len(p.Ports) == 1 }) {
		t.Errorf("the inner one does not serve: %+v", tree)
	}
	tree := c.doing(idOf(t, w, outer, "outer [["))
	last := tree[len(tree)-1]
	if last.Adapter != install.Codex || !slices.Equal(last.Sessions, []string{id}) || last.CPU != nil || slices.ContainsFunc(tree, serves) {
		t.Errorf("the outer one: %+v", tree)
	}
}

// doing is the process tree that status shows of a session.
func (c agentctl) doing(id string) []output.Process {
	c.t.Helper()
	out, errs, code := c.run("status", id, "--json")
	var s output.Session
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
		c.t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	return s.Processes
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
