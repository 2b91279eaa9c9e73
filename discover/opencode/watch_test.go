package opencode

import (
	"slices"
	"testing"

	"agentctl/discover"
)

// For a session in a database, the database and the log are watched; nothing writes the JSON files of older versions.
func TestWatchPaths(t *testing.T) {
	database := []string{"/h/log/opencode.log", "/h/opencode.db", "/h/opencode.db-wal"}
	for path, want := range map[string][]string{
		"": database, "/h/opencode.db": database, "/h/storage/session/x/ses_x.json": {"/h/log/opencode.log", "/h/storage/session/x/ses_x.json"},
	} {
		s := discover.Session{Record: &discover.Record{ID: "ses_x", Path: path, Home: "/h"}}
		if got := New().WatchPaths(t.Context(), s); !slices.Equal(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}
