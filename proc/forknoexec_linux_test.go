package proc

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestForkNoExec: a subshell is a fork that has executed nothing. It does not count as running the shell, whether its
// parent is alive or not.
func TestForkNoExec(t *testing.T) {
	cmd := exec.Command("sh", "-c", "(read line; echo heard; read line); echo never")
	const mark = "AGENTCTL_TEST_COPY"
	cmd.Env = append(os.Environ(), mark+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	parent := cmd.Process.Pid
	defer func() {
		_ = cmd.Process.Kill()
		_ = in.Close() // the copy reads it, and ends
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "heard\n" {
		t.Fatal(line, err)
	}
	table, running := marked(t, mark)
	children := pids(table.Children(parent))
	if len(children) != 1 || !slices.Equal(running, []int{parent}) {
		t.Errorf("beside its parent %d, which has the children %v: %v", parent, children, running)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if shell, ok := table.ByPID(parent); ok {
		if h, err := Open(shell.ID); err == nil {
			_ = h.Wait(t.Context()) // it stays, as a zombie
			_ = h.Close()
		}
	}
	table, running = marked(t, mark)
	if copied, ok := table.ByPID(children[0]); !ok || !copied.Alive() || len(running) > 0 {
		t.Errorf("the copy %+v without its parent: %v run", copied, running)
	}
}

// marked are the processes whose environment has the key, of those that run a program for their own sake.
func marked(t *testing.T, key string) (table *Table, found []int) {
	t.Helper()
	table, err := ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for p := range table.Candidates(Signs{Name: func(string) bool { return true }}) {
		if env, err := p.Env(key); err == nil && env[key] != "" && p.Alive() {
			found = append(found, p.ID.PID)
		}
	}
	return table, found
}
