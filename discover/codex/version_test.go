package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// TestKindsAreKnown: the captured rollouts of all versions have only kinds of records that are known.
func TestKindsAreKnown(t *testing.T) {
	n := 0
	err := filepath.WalkDir("testdata", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != ".jsonl" || !strings.HasPrefix(filepath.Base(path), "rollout-") {
			return err
		}
		n++
		unknown, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: path})
		if len(unknown) > 0 {
			t.Errorf("%s: %q", path, unknown)
		}
		return err
	})
	if err != nil || n < 50 {
		t.Errorf("%d rollouts, %v", n, err)
	}
}

// TestUnknownKinds are those of events and items too; each is reported once, and what is no record is not.
func TestUnknownKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	lines := []string{
		metaLine, `{"type":"newer","payload":{}}`, `{"type":"event_msg","payload":{"type":"turn_paused"}}`, answerLine, "", "[]", `{"type":7}`,
		`{"type":"response_item","payload":{"type":"thought"}}`, `{"type":"newer","payload":{}}`,
	}
	if err := os.WriteFile(path, rollout(lines...), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: path})
	if want := []string{"newer", "response_item/thought", "event_msg/turn_paused"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, gone := range []string{path + "x", path + ".zst"} {
		if got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: gone}); err != nil || got != nil {
			t.Errorf("%s: %q, %v", gone, got, err)
		}
	}
}

// TestNewerVersion: the process's program counts before the version that created the thread.
func TestNewerVersion(t *testing.T) {
	session := func(created, exe string) discover.Session {
		return discover.Session{Record: &discover.Record{Version: created}, Processes: []proc.Process{{Exe: exe}}}
	}
	daemon := "/h/packages/app-server-daemon/releases/999.0.0-alpha.2-x86_64-unknown-linux-musl/bin/codex"
	for _, x := range []struct{ created, exe, want string }{
		{newestTried, "/opt/codex", ""},
		{"0.42.0", "/opt/codex", ""},
		{"999.0.0", "/opt/codex", "999.0.0"},
		{"0.42.0", daemon, "999.0.0-alpha.2"},
		{"", "", ""},
		{"999.0.0", strings.Replace(daemon, "999", "0", 1), ""},
	} {
		if got := New().Tried().NewerVersion(session(x.created, x.exe)); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
