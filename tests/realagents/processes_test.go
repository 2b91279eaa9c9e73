package realagents

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/world"
)

// living reports whether a process runs: a zombie does not.
func living(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndexByte(string(raw), ')')
	return err == nil && i > 0 && !strings.HasPrefix(string(raw[i:]), ") Z") && !strings.HasPrefix(string(raw[i:]), ") X")
}

// kill ends a process at once and returns when it is gone.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || !poll(func() bool { return !living(pid) }) {
		t.Fatalf("killing %d: %v", pid, err)
	}
}

// processesWhere are the living processes whose file in /proc holds the text.
func processesWhere(file, text string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if raw, err := os.ReadFile(name); err == nil && bytes.Contains(raw, []byte(text)) && living(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandOf is the command line of a process.
func commandOf(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), "\x00", " ")
}

// runs reports whether a process runs the release's program, without a launcher between.
func runs(pid int, a world.Agent) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	native, _ := filepath.EvalSymlinks(cmp.Or(a.Runtime, a.Native))
	return err == nil && exe == native
}

// inhabitants are the living processes that were started with a home, as a person could read them.
func inhabitants(home string) (out []string) {
	for _, pid := range processesWhere("environ", "HOME="+home+"\x00") {
		out = append(out, fmt.Sprintf("%d %s", pid, commandOf(pid)))
	}
	return out
}

// toolsOf are the living processes that a Codex thread's tools run, sub-agents' included.
func toolsOf(id string) (pids []int) {
	pids = append(processesWhere("environ", "CODEX_THREAD_ID="+id), processesWhere("environ", "CODEX_SESSION_ID="+id)...)
	slices.Sort(pids)
	return slices.Compact(pids)
}

// alone are the processes of a session in a shared process that are its alone. The shared one stands above them.
func (c agentctl) alone(id string, shared int) (pids []int) {
	c.t.Helper()
	tree := c.status(id).Processes
	if len(tree) == 0 || tree[0].PID != shared || !tree[0].Shared {
		c.t.Fatalf("it is not below %d: %+v", shared, tree)
	}
	for _, p := range tree[1:] {
		if !p.Shared && p.Adapter == "" {
			pids = append(pids, p.PID)
		}
	}
	slices.Sort(pids)
	return pids
}

// commandOfTool is what the process of a tool has in its command line.
func commandOfTool(tool *world.Tool) string {
	words := strings.Fields(tool.Command)
	return words[len(words)-1]
}
