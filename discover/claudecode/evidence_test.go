package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// writeKey makes the key file of a process.
func writeKey(t *testing.T, dir string, pid int, made time.Time) {
	t.Helper()
	path := filepath.Join(dir, sessionsName, fmt.Sprintf("%d.2813a0671605cb4cb07b28e759259b4cce2fc69674b7a9b948b1fafaeb7c4d67%s", pid, keySuffix))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Chtimes(path, made, made))
}

// A program of any name runs a session if its registry entry has its pid and its start, and something else of it.
func TestRenamedProgram(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	renamed := process0(300, 1000, dir, work)
	renamed.Environ, renamed.Name, renamed.Exe, renamed.Arguments = map[string]string{configKey: dir}, "foo", "/opt/foo", []string{"/opt/foo"}
	entry := func(procStart string) string {
		return fmt.Sprintf(`"sessionId":%q,"cwd":%q,"version":"2.1.332","kind":"interactive","status":"busy"%s`, alive, work, procStart)
	}
	const procStart = `,"procStart":"1000"`
	for name, c := range map[string]struct {
		process func(*proc.FakeProcess)
		entry   string
		found   bool
	}{
		"in its directory":         {func(*proc.FakeProcess) {}, entry(procStart), true},
		"pid and start alone":      {func(f *proc.FakeProcess) { f.WorkingDir = "/" }, entry(procStart), false},
		"another start":            {func(*proc.FakeProcess) {}, entry(`,"procStart":"1001"`), false},
		"no start":                 {func(*proc.FakeProcess) {}, entry(""), false},
		"named in its arguments":   {func(f *proc.FakeProcess) { f.WorkingDir, f.Arguments = "/", []string{"foo", "--resume", alive} }, entry(procStart), true},
		"a name like the agent's":  {func(f *proc.FakeProcess) { f.WorkingDir, f.Exe = "/", "/opt/claude-raw" }, entry(procStart), true},
		"a first argument like it": {func(f *proc.FakeProcess) { f.WorkingDir, f.Arguments = "/", []string{"claude", "-c"} }, entry(procStart), true},
		"its embedded tool":        {func(f *proc.FakeProcess) { f.Arguments = []string{"rg", "--files"} }, entry(procStart), false},
		"moved to the background":  {func(*proc.FakeProcess) {}, entry(procStart + `,"parkedJobId":"69ba9323"`), false},
	} {
		f := renamed
		c.process(&f)
		must(t, os.RemoveAll(filepath.Join(dir, sessionsName)))
		writeEntry(t, dir, 300, c.entry)
		got := claims(t, dir, f)
		switch {
		case !c.found && len(got) == 0:
		case !c.found || len(got) != 2 || got[0].NameOnly || got[1].Session != alive || got[1].Strength != discover.Exact || got[1].Dir != work:
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A home that nothing names but a program of another name is one if the program has registered there.
func TestHomeOfARenamedProgram(t *testing.T) {
	dir := t.TempDir()
	f := process0(300, 1000, "", "/w")
	f.Name, f.Exe, f.Arguments, f.Environ = "foo", "/opt/foo", []string{"foo"}, map[string]string{configKey: dir}
	homes := func(table *proc.Table) int {
		return len(New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }}, table))
	}
	table := proc.NewFakeTable(f)
	if n := homes(table.Thorough()); n != 0 {
		t.Errorf("%d homes before it has registered", n)
	}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.332"`, alive))
	if n := homes(table.Thorough()); n != 1 {
		t.Errorf("%d homes", n)
	}
	if n := homes(table); n != 0 {
		t.Errorf("%d homes of a table that is not thorough", n)
	}
}

// The name of a program is no evidence. A key file of the process is: it has no entry while it asks whether the directory is trusted.
func TestProcessBeforeItRegisters(t *testing.T) {
	dir := t.TempDir()
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	renamed := f
	renamed.Exe, renamed.Name, renamed.Arguments = "/opt/claude-raw", "claude-raw", []string{"claude-raw"}
	other := renamed
	other.Exe, other.Name, other.Arguments = "/opt/foo", "foo", []string{"foo"}
	check := func(when string, nameOnly bool, renamedFound int) {
		t.Helper()
		if got := claims(t, dir, f); len(got) != 1 || got[0].Session != "" || got[0].NameOnly != nameOnly {
			t.Errorf("%s: %+v", when, got)
		}
		if got := claims(t, dir, renamed); len(got) != renamedFound || renamedFound > 0 && got[0].NameOnly {
			t.Errorf("%s, renamed: %+v", when, got)
		}
		if got := claims(t, dir, other); len(got) != 0 {
			t.Errorf("%s, another name: %+v", when, got)
		}
	}
	check("nothing", true, 0)
	writeKey(t, dir, 300, f.Started.Add(-time.Minute))
	check("a key of an earlier process", true, 0)
	writeKey(t, dir, 300, f.Started.Add(time.Second))
	check("its key", false, 1)
}

// A folder with very many files is listed in part, and says so. A process with the agent's name is found all the same.
func TestRegistryIsBounded(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, sessionsName)
	must(t, os.MkdirAll(folder, 0o700))
	for i := range registryLimit {
		must(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("left-%d", i)), nil, 0o600))
	}
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.332"`, alive))
	got, err := New().Claims(context.Background(), proc.NewFakeTable(f), []discover.Home{{Dir: dir}})
	if n := len(warningsIn(t, err)); n != 1 || len(got) != 2 {
		t.Errorf("%d warnings, claims %+v", n, got)
	}
}
