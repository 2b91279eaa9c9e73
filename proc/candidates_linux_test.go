package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// startAs starts sleep with a first argument, from a copy of the binary at path if that is not "".
func startAs(t *testing.T, arg0, path string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	must.Do(t, err)
	if path != "" {
		raw, err := os.ReadFile(sleep)
		if err == nil {
			err = os.WriteFile(path, raw, 0o755)
		}
		must.Do(t, err)
		sleep = path
	}
	cmd := &exec.Cmd{Path: sleep, Args: []string{arg0, "1000"}}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// A process is a candidate by its binary's path, its short name or its first argument, by its pid, or in a thorough table.
func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	named := start(t, "wait", func(c *exec.Cmd) { c.Args[0] = "my-agent" }).Process.Pid
	binary := startAs(t, "sleep", filepath.Join(dir, "agent-raw"))
	other := startAs(t, "sleep", "")
	table, err := ReadTable(t.Context())
	must.Do(t, err)
	isAgent := func(name string) bool { return strings.Contains(filepath.Base(name), "agent") }
	found := pids(table.Candidates(Signs{Name: isAgent}))
	if !slices.Contains(found, named) || !slices.Contains(found, binary) || slices.Contains(found, other) {
		t.Errorf("by name: %v; want %d and %d, not %d", found, named, binary, other)
	}
	if found := pids(table.Candidates(Signs{Name: isAgent, PIDs: []int{other}})); !slices.Contains(found, other) {
		t.Errorf("by pid: %v, want %d too", found, other)
	}
	// This test has several threads; sleep has one, so that nobody looks into it.
	all, self := table.Thorough(), os.Getpid()
	null := Signs{Name: isAgent, File: func(path string) bool { return path == os.DevNull }}
	if found := pids(all.Candidates(null)); !slices.Contains(found, self) || !slices.Contains(found, named) || slices.Contains(found, other) {
		t.Errorf("by an open file: %v", found)
	}
	if found := pids(table.Candidates(null)); slices.Contains(found, self) {
		t.Errorf("a table that is not thorough knows open files: %v", found)
	}
	home := Signs{Name: isAgent, Env: []string{"PATH"}}
	if found := pids(all.Candidates(home)); !slices.Contains(found, self) {
		t.Errorf("by the environment: %v", found)
	}
	if known, unknown := all.Examined(func(p Process) bool { return p.ID.PID == other }); known != 1 || unknown != 0 {
		t.Errorf("examined: %d and %d not", known, unknown)
	}
	if table.IsThorough() || !all.IsThorough() {
		t.Error("thorough is not told from the rest")
	}
}

func TestLockHolders(t *testing.T) {
	dir := t.TempDir()
	locked, free := filepath.Join(dir, "locked"), filepath.Join(dir, "free")
	for _, name := range []string{locked, free} {
		f, err := os.Create(name)
		must.Do(t, err)
		defer f.Close()
		if name == locked {
			must.Do(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		}
	}
	link := filepath.Join(dir, "hard-link")
	must.Do(t, os.Link(locked, link))
	table, err := ReadTable(t.Context())
	must.Do(t, err)
	if got := table.LockHolders(free, filepath.Join(dir, "none")); len(got) > 0 {
		t.Errorf("nobody locks it: %v", got)
	}
	if got := table.LockHolders(free, link); !slices.Equal(got, []int{os.Getpid()}) {
		t.Errorf("holders: %v, want %d", got, os.Getpid())
	}
}

func TestParseLocks(t *testing.T) {
	raw := `1: POSIX  ADVISORY  READ  1234 fe:00:10225579 128 128
1: -> POSIX  ADVISORY  WRITE 77 fe:00:10225579 0 EOF
2: FLOCK  ADVISORY  WRITE 12783 00:2a:9 0 EOF
3: OFDLCK ADVISORY  READ  -1 fe:00:3 0 EOF
4: torn
`
	want := []FileLock{{1234, 10225579}, {12783, 9}}
	if got := parseLocks([]byte(raw)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
