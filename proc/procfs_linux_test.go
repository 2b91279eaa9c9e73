package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentctl/tests/must"
)

// mounted makes a proc file system of these files. "self" is this process.
func mounted(t *testing.T, files map[string]string) *procfs {
	t.Helper()
	root := t.TempDir()
	must.Do(t, os.Symlink(strconv.Itoa(os.Getpid()), filepath.Join(root, "self")))
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)))
	}
	return mount(root)
}

// TestUnreadableTableIsAnError: so is a process that cannot be parsed; the others are in the table.
func TestUnreadableTableIsAnError(t *testing.T) {
	if _, err := mount(filepath.Join(t.TempDir(), "none")).readTable(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no /proc at all: %v", err)
	}
	if table, err := mount(t.TempDir()).readTable(t.Context()); err == nil {
		t.Errorf("an empty directory where nothing is mounted: %d processes", table.Len())
	}
	table, err := mounted(t, map[string]string{
		"4045/stat": "4045 (claude) S 1", "4046/stat": statLine(stat{pid: 4046, name: "codex", state: 'S'}),
	}).readTable(t.Context())
	must.Do(t, err)
	_, torn := table.ByPID(4045)
	_, whole := table.ByPID(4046)
	if torn || !whole || table.Err() == nil || !strings.Contains(table.Err().Error(), "4045/stat") {
		t.Errorf("a torn line: found %v, the other %v, %v", torn, whole, table.Err())
	}
}

// TestSandboxedTree: a /proc of processes alone, as mounted with subset=pid, still tells processes apart.
func TestSandboxedTree(t *testing.T) {
	table, err := mounted(t, map[string]string{
		"4045/stat": statLine(stat{pid: 4045, name: "claude", state: 'S', ticks: 199670}),
	}).readTable(t.Context())
	must.Do(t, err)
	if p, _ := table.ByPID(4045); p.ID.Birth != "/199670" || !p.Started.IsZero() || table.Err() != nil {
		t.Errorf("%+v, %v", p, table.Err())
	}
}
