package opencode

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver, by which tests write databases

	"agentctl/discover"
	"agentctl/tests/golden"
	"agentctl/tests/must"
	"agentctl/tests/opencode2"
)

// restore makes a data folder from a dump: the database, and the log if one was captured too.
func restore(t testing.TB, dump string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "opencode")
	script, err := os.ReadFile(filepath.Join("testdata", "dumps", dump+".sql"))
	must.Do(t, err)
	text := string(script)
	if dump == "v2" {
		text = opencode2.Schema + text
	}
	execute(t, filepath.Join(mkdir(t, dir), "opencode.db"), text)
	if log, err := os.ReadFile(filepath.Join("testdata", "dumps", dump+".opencode.log")); err == nil {
		writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), log)
	}
	return dir
}

// capture copies a captured data folder.
func capture(t testing.TB, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "opencode")
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))))
	return dir
}

// execute runs statements on a database and closes it.
func execute(t testing.TB, path string, script ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=synchronous(off)&_pragma=foreign_keys(off)") // a test needs no durability
	must.Do(t, err)
	defer db.Close()
	for _, s := range script {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s[:min(len(s), 80)], err)
		}
	}
}

func mkdir(t testing.TB, dir string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o700))
	return dir
}

// writeFile writes a file with an old modification time. A file that has just changed is read twice.
func writeFile(t testing.TB, path string, raw []byte) {
	t.Helper()
	hourAgo := time.Now().Add(-time.Hour)
	must.Do(t, errors.Join(os.WriteFile(path, raw, 0o600), os.Chtimes(path, hourAgo, hourAgo)))
}

func homeOf(dir string) []discover.Home { return []discover.Home{{Dir: dir}} }

// readRecords lists and reads sessions, newest first.
func readRecords(t testing.TB, homes []discover.Home, q discover.EntryFilter, want discover.ReadOptions) (records []discover.Record, err error) {
	t.Helper()
	entries, err := New().Entries(t.Context(), homes, q)
	errs := []error{err}
	for r, err := range New().Read(context.WithoutCancel(t.Context()), entries, want) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b discover.Record) int {
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return records, errors.Join(errs...)
}

// withoutEmpty removes empty members from a JSON value.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if member = withoutEmpty(member); member == nil || member == "" || member == false || member == 0.0 {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return value
}

// compareGolden compares a value with testdata/golden/NAME.json, in which "~" is the data folder.
func compareGolden(t *testing.T, name, dir string, value any) {
	t.Helper()
	raw, err := json.Marshal(value)
	must.Do(t, err)
	var members any
	must.Do(t, json.Unmarshal(raw, &members))
	got := strings.ReplaceAll(golden.JSON(t, withoutEmpty(members)), dir, "~")
	golden.Compare(t, filepath.Join("testdata", "golden", name+".json"), got)
}

// oneWarning fails unless err is exactly one warning, about path.
func oneWarning(t *testing.T, err error, path string) {
	t.Helper()
	all := flatten(err)
	if len(all) != 1 {
		t.Errorf("%d warnings, want one about %s: %v", len(all), path, all)
		return
	}
	var w *discover.Warning
	if !errors.As(all[0], &w) || w.Path != path || w.Agent != "opencode" {
		t.Errorf("got %v, want a warning about %s", all[0], path)
	}
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, flatten(e)...)
		}
		return out
	}
	return []error{err}
}

var whole = discover.ReadOptions{Tokens: true, Full: true}
