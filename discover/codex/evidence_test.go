package codex

import (
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

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
