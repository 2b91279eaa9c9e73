package opencode

import (
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

// messagesOf returns the messages of a session, newest first, and the warnings.
func messagesOf(t testing.TB, r discover.Record) (list []discover.Message, errs []error) {
	t.Helper()
	for m, err := range New().Messages(t.Context(), r) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, m)
	}
	return list, errs
}

// captured returns functions that restore the captured stores, by name.
func captured(t testing.TB) map[string]func() (dir string) {
	t.Helper()
	dumps, err := filepath.Glob("testdata/dumps/*.sql")
	if err != nil || len(dumps) < 10 {
		t.Fatalf("%d dumps, %v", len(dumps), err)
	}
	out := map[string]func() string{}
	for _, dump := range dumps {
		name := strings.TrimSuffix(filepath.Base(dump), ".sql")
		out[name] = func() string { return restore(t, name) }
	}
	for _, name := range []string{
		"raw-tui-permission-pending", "json-1.1.65-run-finished", "json-1.1.65-run-midturn-then-killed",
		"json-1.1.65-family", "json-1.1.65-said",
	} {
		out[name] = func() string { return capture(t, name) }
	}
	return out
}

// The messages of every captured store are those in the golden files.
func TestGoldenMessages(t *testing.T) {
	for name, unpack := range captured(t) {
		t.Run(name, func(t *testing.T) {
			dir := unpack()
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]discover.Message{}
			for _, r := range records {
				list, errs := messagesOf(t, r)
				if len(errs) > 0 {
					t.Error(errs)
				}
				got[r.ID] = list
			}
			golden(t, filepath.Join("messages", name), dir, got)
		})
	}
}
