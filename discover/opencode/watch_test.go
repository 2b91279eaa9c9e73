package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

// For a session in files, the newest message and its parts are watched; for one in a database, the database and the log.
func TestWatchPaths(t *testing.T) {
	home := filepath.Join("testdata", "json-1.1.65-run-finished")
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: home}}, discover.EntryFilter{})
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, e := range entries {
		s := discover.Session{Record: &discover.Record{ID: e.ID, Path: e.Path, Home: home}}
		got := New().WatchPaths(t.Context(), s)
		places := newLegacyMessages(t.Context(), e.Path, e.ID)
		names, err := filepath.Glob(filepath.Join(places.dir, "msg_*.json"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", e.ID, err)
		}
		newest := slices.Max(names)
		id := strings.TrimSuffix(filepath.Base(newest), ".json")
		parts, err := filepath.Glob(filepath.Join(places.partDir(id), "prt_*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range append([]string{e.Path, filepath.Dir(e.Path), places.dir, newest, places.partDir(id)}, parts...) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %q", e.ID, want, got)
			}
		}
	}
	s := discover.Session{Record: &discover.Record{ID: "ses_x", Path: "/h/opencode.db", Home: "/h"}}
	want := []string{"/h/log/opencode.log", "/h/opencode.db", "/h/opencode.db-wal"}
	if got := New().WatchPaths(t.Context(), s); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// For a process whose session is not known yet, all places are watched where one may begin.
	got := New().WatchPaths(t.Context(), discover.Session{Record: &discover.Record{Home: home}})
	for _, e := range entries {
		if !slices.Contains(got, filepath.Dir(e.Path)) {
			t.Errorf("%s is not among %q", filepath.Dir(e.Path), got)
		}
	}
}

// Messages that the user sends while the model answers do not hide that answer.
func TestWatchPathsBehindPrompts(t *testing.T) {
	dir := capture(t, "json-1.1.65-said")
	const session = "ses_dfff37e33ffe9i3WYOGFBwPArX" // a prompt, an answer with a tool, a prompt during that, an answer
	s := discover.Session{Record: &discover.Record{ID: session, Path: filepath.Join(dir, "storage/session/x", session+".json"), Home: dir}}
	messages := sortedGlob(filepath.Join(dir, "storage/message", session, "*.json"))
	if len(messages) != 4 {
		t.Fatal(messages)
	}
	must(t, os.Remove(messages[3]))
	got := New().WatchPaths(t.Context(), s)
	parts := sortedGlob(filepath.Join(dir, "storage/part", strings.TrimSuffix(filepath.Base(messages[1]), ".json"), "*.json"))
	for _, want := range append(parts, messages[1:3]...) {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if slices.Contains(got, messages[0]) || len(parts) == 0 {
		t.Errorf("%s is among %q", messages[0], got)
	}
}

func sortedGlob(pattern string) []string {
	paths, _ := filepath.Glob(pattern)
	slices.Sort(paths)
	return paths
}
