package opencode

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// Listing, reading and claims change, create and remove nothing in a home.
func TestNothingChanges(t *testing.T) {
	for _, name := range []string{"raw-tui-permission-pending", "json-1.1.65-run-midturn-then-killed"} {
		dir := capture(t, name)
		before := state(t, dir)
		if _, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole); err != nil {
			t.Error(err)
		}
		table := proc.NewFakeTable(withLog(agent(1, at(t, "19:20:30")), dir, 100), withLog(agent(2, at(t, "19:20:30"), "run", "x"), dir, 0))
		if _, err := New().Claims(t.Context(), table, homeOf(dir)); err != nil {
			t.Error(err)
		}
		if after := state(t, dir); after != before {
			t.Errorf("%s changed:\n%s\n%s", name, before, after)
		}
	}
}

// state returns all that a reader could change in a folder.
func state(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&out, path, info.Mode(), info.ModTime(), info.Size())
		if !info.Mode().IsRegular() {
			return nil
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%x\n", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
