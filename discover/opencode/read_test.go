package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// The records of every captured database are those in the golden files.
func TestReadDumps(t *testing.T) {
	dumps, err := filepath.Glob("testdata/dumps/*.sql")
	if err != nil || len(dumps) < 10 {
		t.Fatalf("%d dumps, %v", len(dumps), err)
	}
	for _, dump := range dumps {
		name := strings.TrimSuffix(filepath.Base(dump), ".sql")
		t.Run(name, func(t *testing.T) {
			dir := restore(t, name)
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, dir, records)
		})
	}
}

func TestReadCaptured(t *testing.T) {
	for _, name := range []string{
		"raw-tui-permission-pending", "json-1.1.65-run-finished", "json-1.1.65-run-midturn-then-killed",
		"json-1.1.65-family", "json-1.1.65-said",
	} {
		t.Run(name, func(t *testing.T) {
			dir := capture(t, name)
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, dir, records)
		})
	}
}

func TestEntriesByQuery(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	all, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{Subagents: true})
	if err != nil || len(all) != 7 {
		t.Fatalf("%d entries, %v; want 7", len(all), err)
	}
	const child = "ses_e0595d59bffeCEky2i11cArrU2"
	parent := all[slices.IndexFunc(all, func(e discover.Entry) bool { return e.ID == child })].Parent
	db := filepath.Join(dir, "opencode.db")
	newest := all[0].Updated
	for _, e := range all {
		if e.Updated.After(newest) {
			newest = e.Updated
		}
	}
	for name, c := range map[string]struct {
		query discover.EntryFilter
		want  int
	}{
		"no children":         {discover.EntryFilter{}, 6},
		"full id":             {discover.EntryFilter{ID: child, Subagents: true}, 1},
		"prefix":              {discover.EntryFilter{ID: "ses_e0595f66", Subagents: true}, 2},
		"prefix of none":      {discover.EntryFilter{ID: "ses_f", Subagents: true}, 0},
		"reference":           {discover.EntryFilter{Refs: []discover.Ref{{ID: child}, {ID: "ses_none"}}, Subagents: true}, 1},
		"reference and path":  {discover.EntryFilter{Refs: []discover.Ref{{ID: child, Path: db}}, Subagents: true}, 1},
		"reference elsewhere": {discover.EntryFilter{Refs: []discover.Ref{{ID: child, Path: "/x.db"}}, Subagents: true}, 0},
		"no reference":        {discover.EntryFilter{Refs: []discover.Ref{}, Subagents: true}, 0},
		"since the newest":    {discover.EntryFilter{Since: newest, Subagents: true}, 1},
		"since later":         {discover.EntryFilter{Since: newest.Add(time.Millisecond), Subagents: true}, 0},
		"parent":              {discover.EntryFilter{Parents: []discover.Ref{{ID: parent, Path: db}, {ID: child, Path: db}}, Subagents: true}, 1},
		"parent elsewhere":    {discover.EntryFilter{Parents: []discover.Ref{{ID: parent, Path: "/x.db"}}, Subagents: true}, 0},
		"injection":           {discover.EntryFilter{ID: "ses_' or 1=1 --", Subagents: true}, 0},
	} {
		got, err := New().Entries(t.Context(), homeOf(dir), c.query)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: %d entries, %v; want %d", name, len(got), err, c.want)
		}
		for _, e := range got {
			if e.Path != db || e.Home != dir || e.Agent != "opencode" {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// 1.2 copied sessions from JSON files into the database and left the files. A session in both is listed once, from the database.
func TestDatabaseWinsOverFiles(t *testing.T) {
	dir := capture(t, "json-1.1.65-run-finished")
	files, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{})
	if err != nil || len(files) != 3 {
		t.Fatalf("%d entries, %v; want 3", len(files), err)
	}
	migrated := restore(t, "mig_1.2.1")
	if err := os.Rename(filepath.Join(migrated, "opencode.db"), filepath.Join(dir, "opencode.db")); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(dir, "opencode.db"), "delete from session where id = '"+files[0].ID+"'")
	for _, q := range []discover.EntryFilter{{}, {Since: time.Unix(1, 0)}, {ID: "ses_"}} {
		records, err := readRecords(t, homeOf(dir), q, discover.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		legacy := map[string]bool{}
		for _, r := range records {
			if _, twice := legacy[r.ID]; twice {
				t.Errorf("%s is listed twice", r.ID)
			}
			legacy[r.ID] = r.Meta.Get("legacy") == true
		}
		for _, f := range files {
			if legacy[f.ID] != (f.ID == files[0].ID) {
				t.Errorf("%s: legacy %v", f.ID, legacy[f.ID])
			}
		}
	}
}

func TestSeveralDatabases(t *testing.T) {
	dir := restore(t, "archived")
	for from, to := range map[string]string{
		restore(t, "fail_badmodel"): filepath.Join(dir, "opencode-dev.db"),
		restore(t, "resume"):        filepath.Join(t.TempDir(), "elsewhere.sqlite"),
	} {
		if err := os.Rename(filepath.Join(from, "opencode.db"), to); err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(to) != dir {
			records, err := readRecords(t, []discover.Home{{Dir: dir, Files: []string{to}}}, discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			paths := map[string]int{}
			for _, r := range records {
				paths[r.Path]++
			}
			if paths[to] == 0 || paths[filepath.Join(dir, "opencode.db")] == 0 {
				t.Errorf("records by database: %v", paths)
			}
		}
	}
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	archived := 0
	for _, r := range records {
		if r.Archived {
			archived++
		}
	}
	if archived != 1 {
		t.Errorf("%d archived sessions, want 1", archived)
	}
}

// Columns that are missing, and values of a wrong type, do not affect other columns.
func TestReadOddSchema(t *testing.T) {
	dir := mkdir(t, filepath.Join(t.TempDir(), "opencode"))
	execute(t, filepath.Join(dir, "opencode.db"),
		"create table session(id text primary key, parent_id, title, time_created, time_updated, cost)",
		"create table message(id text primary key, session_id text, time_created, time_updated, data)",
		"create table part(id text primary key, message_id text, time_updated, data)",
		"insert into session values ('ses_1', null, x'ff00', 'soon', null, 'much'), ('ses_2', null, 12, 1795202766525, 1795202766526.5, 1), ('../etc', null, '', 1, 1, 0)",
		"insert into message values ('msg_1', 'ses_2', 5, 6, 'no json'), ('msg_2', 'ses_1', 'x', null, '{\"role\":\"user\"}')",
		"insert into part values ('prt_1', 'msg_2', 1, '[1,2'), ('prt_2', 'msg_2', 1, '{\"type\":\"text\",\"text\":\"hi\",\"synthetic\":true}'), ('prt_3', 'msg_2', 1, '{\"type\":\"text\",\"text\":\"ho\"}')")
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, whole)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if r := records[0]; r.ID != "ses_2" || r.Title != "12" || r.Turn.State != discover.TurnUnknown {
		t.Errorf("got %+v", r)
	}
	if r := records[1]; r.ID != "ses_1" || r.Prompt != "ho" || r.Turn.State != discover.TurnOpen {
		t.Errorf("got %+v", r)
	}
}

// A negative count is 0.
func TestNegativeCounts(t *testing.T) {
	dir := restore(t, "archived")
	execute(t, filepath.Join(dir, "opencode.db"), "update session set tokens_input = -3, tokens_output = 'x', tokens_reasoning = 7")
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if r.Tokens == nil || r.Tokens.In != 0 || r.Tokens.Out != 0 || r.Tokens.Reasoning != 7 {
			t.Errorf("%+v", r.Tokens)
		}
	}
}

func TestUnreadableStores(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string) (path string){
		"text": func(t *testing.T, dir string) string {
			writeFile(t, filepath.Join(dir, "opencode-dev.db"), []byte("this is not a database, is it?"))
			return filepath.Join(dir, "opencode-dev.db")
		},
		"truncated": func(t *testing.T, dir string) string {
			if err := os.Truncate(filepath.Join(dir, "opencode.db"), 5000); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "opencode.db")
		},
		"home is a file": func(t *testing.T, dir string) string {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			writeFile(t, dir, nil)
			return dir
		},
		"legacy folder is a file": func(t *testing.T, dir string) string {
			writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "storage")), "session"), nil)
			return filepath.Join(dir, "storage", "session")
		},
		"legacy project is a file": func(t *testing.T, dir string) string {
			path := filepath.Join(mkdir(t, filepath.Join(dir, "storage", "session")), "global")
			writeFile(t, path, nil)
			return path
		},
		"folder for a database": func(t *testing.T, dir string) string { return mkdir(t, filepath.Join(dir, "opencode-dev.db")) },
		"link to nowhere": func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "opencode-dev.db")
			if err := os.Symlink("/nowhere/at/all", path); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"home is a link to nowhere": func(t *testing.T, dir string) string {
			if err := errors.Join(os.RemoveAll(dir), os.Symlink("/nowhere/at/all", dir)); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"half made": func(t *testing.T, dir string) string {
			execute(t, filepath.Join(dir, "opencode-dev.db"), "create table session(id text primary key)")
			return filepath.Join(dir, "opencode-dev.db")
		},
		"another program's": func(t *testing.T, dir string) string {
			execute(t, filepath.Join(dir, "opencode-dev.db"), "create table bookmarks(id)")
			return filepath.Join(dir, "opencode-dev.db")
		},
		"a view that never ends": func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "opencode-dev.db")
			execute(t, path, "create table message(id)", "create table part(id)",
				"create view session as with recursive r(id) as (select 1 union all select id + 1 from r) select cast(id as text) id from r")
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := restore(t, "archived")
			path := damage(t, dir)
			_, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
			oneWarning(t, err, path)
		})
	}
	missing := filepath.Join(t.TempDir(), "none")
	if records, err := readRecords(t, homeOf(missing), discover.EntryFilter{}, discover.ReadOptions{}); len(records) != 0 || err != nil {
		t.Errorf("missing: %v, %v", records, err)
	}
	writeFile(t, filepath.Join(mkdir(t, missing), "opencode.db"), nil)
	if records, err := readRecords(t, homeOf(missing), discover.EntryFilter{}, discover.ReadOptions{}); len(records) != 0 || err != nil {
		t.Errorf("just begun: %v, %v", records, err)
	}
	missing += "2"
	_, err := readRecords(t, []discover.Home{{Dir: missing, Explicit: true}}, discover.EntryFilter{}, discover.ReadOptions{})
	oneWarning(t, err, missing)
}

// A database that vanished since it was listed is no error.
func TestVanished(t *testing.T) {
	dir := restore(t, "archived")
	entries, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "opencode.db")); err != nil {
		t.Fatal(err)
	}
	for r, err := range New().Read(t.Context(), entries, discover.ReadOptions{}) {
		t.Errorf("got %v, %v", r, err)
	}
}
