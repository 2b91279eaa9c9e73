package codex

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// The version of a binary is found in npm's layout and in the daemon's.
func TestBinaryVersion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"x","version":"0.169.0-linux-x64"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for exe, want := range map[string]string{
		filepath.Join(dir, "vendor/x86_64-unknown-linux-musl/bin/codex"): "0.169.0",
		"/h/releases/0.170.1-x86_64-unknown-linux-musl/bin/codex":        "0.170.1",
		"/h/releases/0.170.0-alpha.2-aarch64-apple-darwin/bin/codex":     "0.170.0-alpha.2",
		"/usr/local/bin/codex": "", "codex": "", "": "", "/nowhere/vendor/x/bin/codex": "",
	} {
		if got := binaryVersion(exe); got != want {
			t.Errorf("%q: %q, want %q", exe, got, want)
		}
	}
}

// The variables of a tool's environment name its thread, if they contain an ID.
func TestReadMarker(t *testing.T) {
	for value, want := range map[string]bool{threadA: true, "": false, "x": false} {
		mark, ok := New().ReadMarker(func(key string) string {
			if !slices.Contains(New().MarkerKeys(), key) {
				t.Errorf("asked for %s", key)
			}
			return value
		})
		if ok != want || ok && mark != (discover.EnvMarker{Session: value, Root: value}) {
			t.Errorf("%q: %+v, %v", value, mark, ok)
		}
	}
}

// A sandbox is recognised by its binary and its name together.
func TestIsSandbox(t *testing.T) {
	w := newTestHome(t)
	w.process(1, 0, npmExe, []string{"x"}).Arguments[0] = "codex-linux-sandbox"
	w.process(2, 1, npmExe, []string{"exec"})
	w.process(3, 1, "/usr/bin/python3", []string{"x"}).Arguments[0] = "codex-linux-sandbox"
	for p := range proctest.NewTable(w.facts...).All() {
		if got := New().IsSandbox(p); got != (p.ID.PID == 1) {
			t.Errorf("pid %d: %t", p.ID.PID, got)
		}
		if got := New().IsAgentProcess(p); got != (p.ID.PID == 2) {
			t.Errorf("pid %d runs Codex: %t", p.ID.PID, got)
		}
	}
}

// What holds a lock or writes a rollout is Codex's, whatever its program is called. Its role is that of its arguments, unless the name says
// another one; without a terminal it is no terminal interface.
func TestEvidenceComesBeforeNames(t *testing.T) {
	for exe, test := range map[string]struct {
		args     []string
		presence string
	}{
		"/nix/store/x/bin/codex-raw":         {[]string{"exec", "hi"}, "exact exec open"},
		"/nix/store/x/bin/.codex-unwrapped":  {[]string{"exec", "hi"}, "exact exec open"},
		"/opt/my-codex":                      {[]string{"exec", "hi"}, "exact exec open"},
		"/opt/npm/bin/codex-acp":             {nil, "exact  empty shared none"},
		"/usr/local/bin/foo":                 {[]string{"exec", "hi"}, "exact exec open"},
		"/usr/local/bin/bar":                 {nil, "exact  empty shared none"},
		"/usr/local/bin/codex-linux-sandbox": {[]string{"--", "bash"}, "exact  empty shared none"},
	} {
		t.Run(filepath.Base(exe), func(t *testing.T) {
			w := newTestHome(t)
			rollout := writing(w.rollout(nameA))
			w.process(8, 1, exe, test.args, rollout)
			w.thorough = true
			got := w.claims()
			if len(got) != 2 || got[1].Session != threadA || got[1].Path != rollout.Path || got[1].Strength != discover.Exact || got[0].NameOnly {
				t.Fatalf("got %v", describe(got))
			}
			if text := describe(got)[0]; text != "pid 8  process "+test.presence {
				t.Errorf("presence %q, want %q", text, test.presence)
			}
			// In the quick table, a lock of a known home is enough.
			w.thorough, w.configured = false, true
			w.facts[0].Files, w.facts[0].Environ = []proc.OpenFile{w.lock(threadA)}, nil
			if got := w.claims(); len(got) != 2 || got[1].Kind != "writer-lock" {
				t.Errorf("with a lock: %v", describe(got))
			}
		})
	}
}

// A name that mentions Codex makes no claim without a file that only Codex has open, and those who read make none at all.
func TestNamesWithoutEvidence(t *testing.T) {
	w := newTestHome(t)
	w.thorough = true
	rollout := proc.OpenFile{Path: w.rollout(nameA)}
	w.process(8, 1, "/opt/codex-raw", nil).Files = nil
	w.process(9, 1, "/usr/bin/tail", []string{"-f", nameA}, rollout)
	w.process(10, 1, "/usr/bin/sqlite3", []string{"state_5.sqlite"})
	w.process(11, 1, "/opt/codex-viewer", nil).Files = []proc.OpenFile{rollout}
	w.expect()
	p := w.process(12, 1, "/opt/codex-raw", nil)
	p.TTYPath, p.TTYDevice = "/dev/pts/3", 1
	w.process(13, 1, "/usr/local/bin/codex", []string{"-c", "work"}).Files = nil // a shell
	w.expect("pid 13  process exact tui name-only none", "pid 12  process exact tui none")
}
