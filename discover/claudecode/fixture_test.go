package claudecode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const fixtures = "testdata/fixtures"

// home copies a captured config folder, with each transcript's time set to that of its newest record, as it was.
func home(t testing.TB, fixture string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".claude")
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, fixture))))
	must.Do(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != transcriptSuffix {
			return err
		}
		return os.Chtimes(path, time.Time{}, newestRecord(t, path))
	}))
	return dir
}

// newestRecord returns the time of the newest record, by parsing all of them.
func newestRecord(t testing.TB, path string) (newest time.Time) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must.Do(t, err)
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record struct{ Timestamp time.Time }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Timestamp.After(newest) {
			newest = record.Timestamp
		}
	}
	must.Do(t, lines.Err())
	return newest
}

// records reads everything below a home.
func records(t testing.TB, dir string, q discover.EntryFilter, want discover.ReadOptions) ([]discover.Record, []*discover.Warning) {
	t.Helper()
	entries, err := New().Entries(context.Background(), []discover.Home{{Dir: dir}}, q)
	warned := warningsIn(t, err)
	var out []discover.Record
	for r, err := range New().Read(context.Background(), entries, want) {
		if err != nil {
			warned = append(warned, warningsIn(t, err)...)
			continue
		}
		out = append(out, r)
	}
	return out, warned
}

// warningsIn takes an error apart; everything in it must be a warning.
func warningsIn(t testing.TB, err error) []*discover.Warning {
	t.Helper()
	if err == nil {
		return nil
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*discover.Warning
		for _, e := range list.Unwrap() {
			out = append(out, warningsIn(t, e)...)
		}
		return out
	}
	var w *discover.Warning
	if !errors.As(err, &w) {
		t.Fatalf("not a warning: %v", err)
	}
	return []*discover.Warning{w}
}

// claims returns the claims of made-up processes on real files.
func claims(t testing.TB, dir string, facts ...proctest.Process) []discover.Claim {
	t.Helper()
	got, err := New().Claims(context.Background(), proctest.NewTable(facts...), []discover.Home{{Dir: dir}})
	must.Do(t, err)
	return got
}

// sessions leaves out presences.
func sessions(all []discover.Claim) (out []discover.Claim) {
	for _, c := range all {
		if c.Session != "" {
			out = append(out, c)
		}
	}
	return out
}

// native329 is a process of a native build, node112 one of a node build, as /proc shows them (the proc folders of the
// fixtures).
func native329(pid int, ticks uint64, home, cwd string, args ...string) proctest.Process {
	f := process0(pid, ticks, home, cwd)
	f.Name, f.Exe = "claude", "/opt/agents/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
	f.Arguments = append([]string{"/opt/agents/node_modules/.bin/claude"}, args...)
	return f
}

func node112(pid int, ticks uint64, home, cwd string) proctest.Process {
	f := process0(pid, ticks, home, cwd)
	f.Name, f.Exe, f.Arguments = "claude", "/usr/bin/node", []string{"claude"}
	return f
}

func process0(pid int, ticks uint64, home, cwd string) proctest.Process {
	return proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: pid, Birth: "boot/" + time.Duration(ticks).String()}, Ticks: ticks,
			Parent: 1, Group: pid, Session: pid, State: 'S', Started: bootTime.Add(time.Duration(ticks) * 10 * time.Millisecond),
		},
		WorkingDir: cwd,
		Environ:    map[string]string{"HOME": strings.TrimSuffix(home, "/.claude")},
	}
}

// bootTime is the boot time of the machine that the fixtures were captured on.
var bootTime = time.Unix(1795201065, 0)

// idsOf returns the identities of processes of a table.
func idsOf(table *proc.Table, pids ...int) (out []proc.ID) {
	for _, pid := range pids {
		p, _ := table.ByPID(pid)
		out = append(out, p.ID)
	}
	return out
}
