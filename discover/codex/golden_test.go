package codex

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

var update = flag.Bool("update", false, "write the golden records instead of comparing them")

// readHome reads all records of a home, sorted by ID. Every warning fails the test.
func readHome(t testing.TB, dir string, want discover.ReadOptions) []discover.Record {
	t.Helper()
	records, warnings := readEntries(t, dir, discover.EntryFilter{}, want)
	for _, err := range warnings {
		t.Error(err)
	}
	return records
}

// readEntries reads the selected records of a home, sorted by ID, and the distinct warnings.
func readEntries(t testing.TB, dir string, q discover.EntryFilter, want discover.ReadOptions) (records []discover.Record, warnings []error) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, q)
	warnings = splitWarnings(t, err)
	for r, err := range New().Read(t.Context(), entries, want) {
		if err != nil {
			warnings = append(warnings, splitWarnings(t, err)...)
			continue
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b discover.Record) int { return strings.Compare(a.ID+a.Path, b.ID+b.Path) })
	slices.SortFunc(warnings, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	warnings = slices.CompactFunc(warnings, func(a, b error) bool { return a.Error() == b.Error() })
	return records, warnings
}

// rolloutPaths lists all rollouts of a thread.
func rolloutPaths(t testing.TB, home, id string, last time.Time) (paths []string) {
	t.Helper()
	all, err := allRollouts(t.Context(), home, id, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	return paths
}

// splitWarnings splits joined errors. Each must be a warning that names a path.
func splitWarnings(t testing.TB, err error) []error {
	t.Helper()
	if err == nil {
		return nil
	}
	errs := []error{err}
	if joined := interface{ Unwrap() []error }(nil); errors.As(err, &joined) {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		if w := (*discover.Warning)(nil); !errors.As(err, &w) || w.Path == "" || w.Agent != "codex" {
			t.Errorf("not a warning that names a path: %v", err)
		}
	}
	return errs
}

// The captured storage of many versions and situations reads as recorded. testdata/*/README describes each.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/[0-9]*")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d folders of fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			records := readHome(t, dir, discover.ReadOptions{Full: true})
			for i := range records {
				if info, err := os.Stat(records[i].Path); err == nil && records[i].Updated.Equal(info.ModTime()) {
					records[i].Updated = records[i].Created // the file's own time is that of the check-out
				}
			}
			got, err := json.MarshalIndent(records, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join("testdata", "golden", filepath.Base(dir)+".json"), append(got, '\n'))
		})
	}
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// A list reads less than a status, but the same values. Only the tokens may be missing.
func TestListAgreesWithStatus(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	for _, dir := range dirs {
		list, status := readHome(t, dir, discover.ReadOptions{}), readHome(t, dir, discover.ReadOptions{Full: true})
		if len(list) != len(status) {
			t.Errorf("%s: %d and %d records", dir, len(list), len(status))
			continue
		}
		for i := range list {
			status[i].Quotas = nil
			if slices.ContainsFunc(list, func(r discover.Record) bool { return r.Parent == list[i].ID }) {
				list[i].Tokens = nil // its own alone
			}
			if list[i].Tokens == nil {
				status[i].Tokens = nil
				window := func(f discover.Fact) bool { return f.Name == "contextWindow" }
				status[i].Meta, list[i].Meta = slices.DeleteFunc(status[i].Meta, window), slices.DeleteFunc(list[i].Meta, window)
			}
			a, _ := json.Marshal(list[i])
			b, _ := json.Marshal(status[i])
			if string(a) != string(b) {
				t.Errorf("list\n%s\nstatus\n%s", a, b)
			}
		}
	}
}
