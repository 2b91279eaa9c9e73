package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// A registry file alone proves nothing (S9, S11): it outlives a SIGKILL, and its PID is reused.
func TestStaleRegistryEntryIsNoEvidence(t *testing.T) {
	dir := home(t, "04-tui-sigkill-stale-registry-2.1.197") // pid 569, ticks 110454, "busy"
	cwd := "/srv/claude-lab/w/st_KILL"
	owner := native329(569, 110454, dir, cwd)
	innocent := owner
	innocent.Name, innocent.Exe, innocent.Arguments, innocent.WorkingDir = "sleep", "/usr/bin/sleep", []string{"sleep", "9", tui1}, "/"
	starting := innocent // in the midst of execve(2) a process has no arguments
	starting.Arguments = nil
	zombie := owner
	zombie.State = 'Z'
	for name, f := range map[string]proctest.Process{
		"another program": innocent, "a program that starts": starting, "zombie": zombie, "another birth": native329(569, 110455, dir, cwd),
		"another pid": native329(570, 110454, dir, cwd),
	} {
		if got := sessions(claims(t, dir, f)); len(got) > 0 {
			t.Errorf("%s: claims %+v", name, got)
		}
	}
	if got := sessions(claims(t, dir, owner)); len(got) != 1 {
		t.Errorf("the owner itself: %+v", got)
	}
}

// A version that is not supported has a row that says so. Its entry may name a session that it does not run any more.
func TestOutdatedProcess(t *testing.T) {
	const update = " is older than supported (" + oldestSupported + "): update"
	dir := t.TempDir()
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	check := func(f proctest.Process, want string, sessions ...string) {
		t.Helper()
		got := claims(t, dir, f)
		if len(got) != 1+len(sessions) {
			t.Fatalf("claims %+v", got)
		}
		for i, c := range got {
			if c.Unreadable != want || i > 0 && (c.Session != sessions[i-1] || c.Strength != discover.Weak) {
				t.Errorf("%+v", c)
			}
		}
	}
	check(f, "")
	old := f
	old.Exe = filepath.Join(t.TempDir(), "claude", "versions", "2.1.120")
	must.Do(t, os.MkdirAll(filepath.Dir(old.Exe), 0o700))
	must.Do(t, os.WriteFile(old.Exe, nil, 0o700))
	check(old, "2.1.120"+update)
	node := node112(300, 1000, dir, "/w")
	node.Environ = f.Environ
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q`, alive))
	check(node, "a node build"+update)
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.131"`, alive))
	check(f, "2.1.131"+update, alive)
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":%q`, alive, oldestSupported))
	if got := claims(t, dir, f); len(got) != 2 || got[1].Unreadable != "" || got[1].Strength != discover.Exact {
		t.Errorf("%s: %+v", oldestSupported, got)
	}
}

// In a container the registry file is named by the PID there, and the paths in the environment are not valid outside.
func TestProcessInAContainer(t *testing.T) {
	dir := t.TempDir()
	writeEntry(t, dir, 1, fmt.Sprintf(`"procStart":"7777","sessionId":%q,"version":"2.1.329"`, alive))
	f := native329(5000, 7777, "/nowhere/.claude", "/w")
	f.NSPIDs, f.OtherRoot = []int{5000, 1}, true
	if got := sessions(claims(t, dir, f)); len(got) != 1 || got[0].Session != alive || got[0].Home != dir {
		t.Errorf("claims %+v", got)
	}
	if got := New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }}, proctest.NewTable(f)); len(got) != 0 {
		t.Errorf("homes %+v: a path of the container is not ours", got)
	}
}

func TestDamagedRegistryEntry(t *testing.T) {
	for content, warned := range map[string]int{
		"": 0, "{": 1, "\x00\x00": 1, `{"pid":"x"}`: 1, `[]`: 1,
		`{"pid":100,"sessionId":"` + alive + `","procStart":"1000","version":"2.1.197","cwd":"/w"}garbage of the last rewrite`:             0,
		`{"pid":100,"sessionId":"` + alive + `","procStart":"1000","version":3,"cwd":[],"status":{},"note":"of odd types, yet a rewrite"}`: 0,
	} {
		dir := t.TempDir()
		must.Do(t, os.MkdirAll(dir+"/sessions", 0o700))
		must.Do(t, os.WriteFile(registryPath(dir, 100), []byte(content), 0o600))
		f := native329(100, 1000, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got, err := New().Claims(context.Background(), proctest.NewTable(f), []discover.Home{{Dir: dir}})
		if w := warningsIn(t, err); len(w) != warned || warned > 0 && w[0].Path != registryPath(dir, 100) {
			t.Errorf("%q: warnings %v", content, w)
		}
		if len(got) == 0 || got[0].Session != "" {
			t.Errorf("%q: the process is gone: %+v", content, got)
		}
		if strings.Contains(content, "rewrite") && len(got) != 2 {
			t.Errorf("%q: claims %+v", content, got)
		}
	}
}

func FuzzRegistryEntry(f *testing.F) {
	snapshots, err := os.ReadFile(filepath.Join(fixtures, "registry-snapshots.jsonl"))
	must.Do(f, err)
	for line := range bytes.Lines(snapshots) {
		f.Add(bytes.TrimSpace(line), []byte("}"))
	}
	f.Fuzz(func(t *testing.T, raw, leftover []byte) {
		e, err := parseRegistryEntry(raw)
		if err != nil {
			return
		}
		if e.PID <= 0 || !isUUID(e.SessionID) {
			t.Fatalf("accepted without pid or session: %q", raw)
		}
		// A shorter rewrite leaves the end of the longer one behind.
		again, err := parseRegistryEntry(append(bytes.Clone(raw), append([]byte("\n"), leftover...)...))
		if err != nil || again != e {
			t.Fatalf("%q followed by %q: %+v, %v", raw, leftover, again, err)
		}
	})
}
