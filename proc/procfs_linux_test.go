package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recorded makes a proc file system of the captures in dir.
func recorded(t *testing.T, dir string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	put("sys/kernel/random/boot_id", "2d52056f-0000-4000-8000-000000000000\n")
	link("btime", "stat")
	link(strconv.Itoa(os.Getpid()), "self")
	links, err := filepath.Glob(root + "/[0-9]*/[ec][xw][ed]")
	if err != nil || len(links) == 0 {
		t.Fatal(err, links)
	}
	for _, path := range links {
		target, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		link(strings.TrimSpace(string(target)), name)
	}
	return root
}

func TestRecordedTree(t *testing.T) {
	f := mount(recorded(t, "testdata/claude-code"))
	table, err := f.readTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := pids(table.All()); !slices.Equal(got, []int{4045, 17504, 27229, 28188, 28263, 29759}) {
		t.Fatalf("%v", got)
	}
	if !table.Hidden() {
		t.Error("process 1 is not in it, but nothing is said to be hidden")
	}
	p, _ := table.ByPID(4045)
	want := Process{
		ID:    ID{4045, "2d52056f-0000-4000-8000-000000000000/199670"},
		Ticks: 199670, Parent: 4042, Group: 4042, Session: 4042, TTYDevice: ttyDevice(136<<8 | 21), UID: os.Geteuid(), State: 'S', Name: "claude",
		Exe:     "/opt/agents/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
		Started: time.Unix(1795201065, 0).UTC().Add(1996700 * time.Millisecond),
	}
	args, err := p.Args()
	if err != nil || !slices.Equal(args, []string{"/opt/agents/node_modules/.bin/claude", "--session-id", "cccccccc-2222-4333-8444-555555555555"}) {
		t.Errorf("arguments %q, %v", args, err)
	}
	if dir, err := p.Cwd(); err != nil || dir != "/srv/claude-lab/w/alive" {
		t.Errorf("directory %q, %v", dir, err)
	}
	p.impl, p.arg0, p.threads = nil, "", 0
	if p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	node, _ := table.ByPID(28188) // it wrote its title over its arguments
	if args, err := node.Args(); err != nil || !slices.Equal(args, []string{"claude"}) || node.Exe != "/usr/bin/node" {
		t.Errorf("%q, %v, %+v", args, err, node)
	}
}

func TestUnreadableTableIsAnError(t *testing.T) {
	if _, err := mount(filepath.Join(t.TempDir(), "none")).readTable(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no /proc at all: %v", err)
	}
	if table, err := mount(t.TempDir()).readTable(t.Context()); err == nil {
		t.Errorf("an empty directory where nothing is mounted: %d processes", table.Len())
	}
	root := recorded(t, "testdata/claude-code")
	if err := os.WriteFile(root+"/4045/stat", []byte("4045 (claude) S 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := mount(root).readTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := table.ByPID(4045); ok || table.Err() == nil || !strings.Contains(table.Err().Error(), "4045/stat") {
		t.Errorf("a torn line: found %v, %v", ok, table.Err())
	}
}

// TestSandboxedTree: a /proc of processes alone, as mounted with subset=pid, still tells processes apart.
func TestSandboxedTree(t *testing.T) {
	root := recorded(t, "testdata/claude-code")
	if err := errors.Join(os.RemoveAll(root+"/sys"), os.Remove(root+"/stat"), os.Remove(root+"/btime")); err != nil {
		t.Fatal(err)
	}
	table, err := mount(root).readTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, _ := table.ByPID(4045)
	if p.ID.Birth != "/199670" || !p.Started.IsZero() {
		t.Errorf("%+v", p)
	}
}
