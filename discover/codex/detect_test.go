package codex

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
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
	for p := range proc.NewFakeTable(w.facts...).All() {
		if got := New().IsSandbox(p); got != (p.ID.PID == 1) {
			t.Errorf("pid %d: %t", p.ID.PID, got)
		}
		if got := New().IsAgentProcess(p); got != (p.ID.PID == 2) {
			t.Errorf("pid %d runs Codex: %t", p.ID.PID, got)
		}
	}
}
