package codex

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentctl/discover"
)

// A thread is watched at its rollout, and where its process may begin another thread.
func TestWatchPaths(t *testing.T) {
	today := filepath.Join("/h", sessionsDir, time.Now().Format(dayLayout))
	for _, tc := range []struct {
		r    discover.Record
		want []string
	}{
		{discover.Record{Home: "/h", ID: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424", Path: "/h/r.jsonl"}, []string{"/h/r.jsonl"}},
		{discover.Record{Home: "/h", ID: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424"}, []string{"/h/sessions/2026/11/19", "/h/sessions/2026/11/20", "/h/sessions/2026/11/21"}},
		{discover.Record{Home: "/h"}, nil},
	} {
		got := Adapter{}.WatchPaths(t.Context(), discover.Session{Record: &tc.r})
		for _, want := range append(tc.want, filepath.Join("/h", locksDir), today) {
			if !slices.Contains(got, want) {
				t.Errorf("%+v: %s is not among %q", tc.r, want, got)
			}
		}
	}
}
