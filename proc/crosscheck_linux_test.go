package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestCrossCheckNames: go-ps leaves out a process whose name holds a ")".
func TestCrossCheckNames(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]Difference{}
	for _, name := range []string{"x) R 1", "a)b"} {
		link := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(exe, link); err != nil {
			t.Fatal(err)
		}
		c := start(t, "wait", func(c *exec.Cmd) { c.Path = link })
		want[c.Process.Pid] = Difference{c.Process.Pid, name, "missing in go-ps"}
	}
	_, differences, err := CrossCheck(take(t))
	if err != nil {
		t.Fatal(err)
	}
	for pid, d := range want {
		if !slices.Contains(differences, d) {
			t.Errorf("pid %d: no %+v in %+v", pid, d, differences)
		}
	}
}
