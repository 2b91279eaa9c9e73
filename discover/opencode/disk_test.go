package opencode

import (
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// A session in a database has the bytes of its rows, and the database has the rest.
func TestDiskUseOfRows(t *testing.T) {
	dir := restore(t, "family")
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows, rest := map[string]int64{}, int64(0)
	for u, err := range (Adapter{}).ReadDisk(t.Context(), homeOf(dir), records) {
		switch {
		case err != nil:
			t.Fatal(err)
		case u.Owner >= 0 && u.Estimated:
			rows[records[u.Owner].ID] += u.Bytes
		case u.Path == filepath.Join(dir, "opencode.db"):
			rest = u.Bytes
		}
	}
	for _, r := range records {
		if rows[r.ID] <= 0 {
			t.Errorf("%s has no rows", r.ID)
		}
	}
	if rest <= 0 {
		t.Error("the database has nothing left")
	}
}
