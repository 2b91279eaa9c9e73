package codex

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// messagesOf returns the messages of a record, newest first, and every warning.
func messagesOf(t testing.TB, r discover.Record) (list []discover.Message, warnings []error) {
	t.Helper()
	for m, err := range New().Messages(t.Context(), r) {
		if err != nil {
			warnings = append(warnings, splitWarnings(t, err)...)
			continue
		}
		list = append(list, m)
	}
	return list, warnings
}

// The messages of every captured session read as recorded.
func TestGoldenMessages(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := []byte{}
			for _, r := range readHome(t, dir, discover.ReadOptions{}) {
				list, warnings := messagesOf(t, r)
				for _, err := range warnings {
					t.Error(err)
				}
				for _, m := range list {
					line, err := json.Marshal(m)
					if err != nil {
						t.Fatal(err)
					}
					got = append(append(got, line...), '\n')
				}
				got = append(got, '\n')
			}
			compareGolden(t, filepath.Join("testdata", "golden", "messages", filepath.Base(dir)+".jsonl"), got)
		})
	}
}
