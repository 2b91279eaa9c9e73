package opencode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
)

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
	must.Do(t, os.Rename(filepath.Join(migrated, "opencode.db"), filepath.Join(dir, "opencode.db")))
	execute(t, filepath.Join(dir, "opencode.db"), "delete from session where id = '"+files[0].ID+"'")
	for _, q := range []discover.EntryFilter{{}, {Since: time.Unix(1, 0)}, {ID: "ses_"}} {
		records, err := readRecords(t, homeOf(dir), q, discover.ReadOptions{})
		must.Do(t, err)
		legacy := map[string]bool{}
		for _, r := range records {
			if _, twice := legacy[r.ID]; twice {
				t.Errorf("%s is listed twice", r.ID)
			}
			legacy[r.ID] = r.Meta["legacy"] == true
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
		must.Do(t, os.Rename(filepath.Join(from, "opencode.db"), to))
		if filepath.Dir(to) != dir {
			records, err := readRecords(t, []discover.Home{{Dir: dir, Files: []string{to}}}, discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
			must.Do(t, err)
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
	must.Do(t, err)
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

func TestUnreadableStores(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string) (path string){
		"text": func(t *testing.T, dir string) string {
			writeFile(t, filepath.Join(dir, "opencode-dev.db"), []byte("this is not a database, is it?"))
			return filepath.Join(dir, "opencode-dev.db")
		},
		"truncated": func(t *testing.T, dir string) string {
			must.Do(t, os.Truncate(filepath.Join(dir, "opencode.db"), 5000))
			return filepath.Join(dir, "opencode.db")
		},
		"home is a file": func(t *testing.T, dir string) string {
			must.Do(t, os.RemoveAll(dir))
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
			must.Do(t, os.Symlink("/nowhere/at/all", path))
			return path
		},
		"home is a link to nowhere": func(t *testing.T, dir string) string {
			must.Do(t, errors.Join(os.RemoveAll(dir), os.Symlink("/nowhere/at/all", dir)))
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
}

// A database that vanished since it was listed is no error.
func TestVanished(t *testing.T) {
	dir := restore(t, "archived")
	entries, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{})
	must.Do(t, err)
	must.Do(t, os.Remove(filepath.Join(dir, "opencode.db")))
	for r, err := range New().Read(t.Context(), entries, discover.ReadOptions{}) {
		t.Errorf("got %v, %v", r, err)
	}
}

const damagedPage = 1024

// storeToDamage makes a database with small pages, and sessions with two messages each.
func storeToDamage(t testing.TB, sessions int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "opencode.db")
	schema := transcriptSchema[:len(transcriptSchema)-1]
	execute(t, path, append([]string{fmt.Sprint("pragma page_size=", damagedPage)}, schema...)...)
	numbers := fmt.Sprintf("with recursive s(v) as (select 1 union all select v + 1 from s where v < %d) ", sessions)
	execute(t, path,
		"create index session_parent_idx on session (parent_id)",
		numbers+"insert into session select printf('ses_%026d', v), null, 1000000 + v, 2000000 + v from s",
		numbers+`insert into message select printf('msg_%08da', v), printf('ses_%026d', v), 1000000 + v, 1, '{"role":"user","time":{"created":1}}' from s`,
		numbers+`insert into message select printf('msg_%08db', v), printf('ses_%026d', v), 1000001 + v, 1, '{"role":"assistant","finish":"stop","time":{"created":1,"completed":2}}' from s`,
		numbers+`insert into part select printf('prt_%08d', v), printf('msg_%08da', v), printf('ses_%026d', v), 1, 1, json_object('type', 'text', 'text', 'prompt ' || v) from s`,
		numbers+`insert into part select printf('prt_%08db', v), printf('msg_%08db', v), printf('ses_%026d', v), 1, 1, json_object('type', 'text', 'text', 'answer ' || v) from s`)
	return path
}

// damage overwrites a page, counted from 1.
func damage(whole []byte, page int) []byte {
	raw := bytes.Clone(whole)
	copy(raw[(page-1)*damagedPage:page*damagedPage], bytes.Repeat([]byte{0xa5}, damagedPage))
	return raw
}

// With any damaged page, a session is what it was, or a warning says that the database cannot be read in part.
func TestAnyDamagedPage(t *testing.T) {
	const sessions = 60
	path := storeToDamage(t, sessions)
	home := homeOf(filepath.Dir(path))
	query := discover.EntryFilter{Subagents: true}
	want, err := readRecords(t, home, query, discover.ReadOptions{Tokens: true})
	if err != nil || len(want) != sessions {
		t.Fatalf("%d sessions, %v", len(want), err)
	}
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	partial := 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		writeFile(t, path, damage(whole, page))
		got, err := readRecords(t, home, query, discover.ReadOptions{Tokens: true})
		if err != nil {
			oneOfPath(t, err, path)
		}
		if err != nil && len(got) > 0 {
			partial++
		}
		for _, w := range want {
			i := slices.IndexFunc(got, func(r discover.Record) bool { return r.ID == w.ID })
			if same := i >= 0 && reflect.DeepEqual(got[i], w); !same && err == nil || i >= 0 && got[i].Turn.State == discover.TurnNone {
				t.Errorf("page %d: %s is lost or not what it was: %v", page, w.ID, err)
			}
		}
	}
	if partial < 20 {
		t.Errorf("%d pages cost only a part", partial)
	}
}

// A damaged page that names another page twice gives no session twice, and a warning.
func TestPageNamedTwice(t *testing.T) {
	path := storeToDamage(t, 60)
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	twice := 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		raw := bytes.Clone(whole)
		p := raw[(page-1)*damagedPage : page*damagedPage]
		const interiorIndex, interiorTable, pointers = 2, 5, 12
		if p[0] != interiorIndex && p[0] != interiorTable || binary.BigEndian.Uint16(p[3:]) < 2 {
			continue
		}
		first, second := binary.BigEndian.Uint16(p[pointers:]), binary.BigEndian.Uint16(p[pointers+2:])
		copy(p[second:second+4], p[first:first+4]) // a cell begins with the number of a page
		writeFile(t, path, raw)
		for _, q := range []discover.EntryFilter{{}, {ID: "ses_"}} {
			entries, err := New().Entries(t.Context(), homeOf(filepath.Dir(path)), q)
			seen := map[string]bool{}
			for _, e := range entries {
				if seen[e.ID] {
					t.Errorf("page %d, %+v: %s comes twice", page, q, e.ID)
				}
				seen[e.ID] = true
			}
			if errors.Is(err, errDuplicateRow) {
				oneOfPath(t, err, path)
				twice++
			} else if len(entries) != 60 && err == nil {
				t.Errorf("page %d, %+v: %d sessions and no warning", page, q, len(entries))
			}
		}
	}
	if twice < 2 {
		t.Errorf("%d lists had a row twice", twice)
	}
}

// oneOfPath fails if an error has anything but warnings about a path.
func oneOfPath(t *testing.T, err error, path string) {
	t.Helper()
	w, ok := errors.AsType[*discover.Warning](err)
	if !ok || w.Path != path {
		t.Errorf("not a warning about %s: %v", path, err)
	}
}

// A session can have sub-agents of sub-agents, and in a damaged store be its own sub-agent.
func TestTotalsOfGrandchildren(t *testing.T) {
	const child, other = "ses_e0000c9f7ffeLls58oOl0Elxzy", "ses_e00011cb1ffe1cYGmjra8CLZP5"
	dir := restore(t, "family")
	db := filepath.Join(dir, "opencode.db")
	execute(t, db, "update session set parent_id = '"+child+"' where id = '"+other+"'")
	total := func(id string, want discover.ReadOptions) int64 {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id, Subagents: true}, want)
		if err != nil || len(records) != 1 || records[0].Tokens == nil {
			t.Fatalf("%+v, %v", records, err)
		}
		return records[0].Tokens.Total
	}
	for _, want := range []discover.ReadOptions{{}, whole} {
		if got := total("ses_e0000e410ffe8UVAmhaap2NBgh", want); got != 5*1068 {
			t.Errorf("%+v: %d", want, got)
		}
	}
	execute(t, db, "update session set parent_id = id where id = '"+other+"'")
	if got := total(other, whole); got != 1068 {
		t.Errorf("its own child: %d", got)
	}
}

// After a compaction, the size of the context is unknown until the next answer.
func TestContextAfterCompaction(t *testing.T) {
	const id = "ses_e0000b898ffeazalBHsMekyOeh"
	dir := restore(t, "family")
	context := func() int64 {
		t.Helper()
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id}, whole)
		if err != nil || len(records) != 1 {
			t.Fatalf("%+v, %v", records, err)
		}
		cheap, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id}, discover.ReadOptions{})
		if err != nil || len(cheap) != 1 || cheap[0].Tokens.Context != records[0].Tokens.Context {
			t.Errorf("%+v, %v", cheap[0].Tokens, err)
		}
		return records[0].Tokens.Context
	}
	if got := context(); got != 1068 {
		t.Errorf("after an answer: %d", got)
	}
	execute(t, filepath.Join(dir, "opencode.db"), "delete from message where session_id = '"+id+
		"' and time_created > (select max(time_created) from message where json_extract(data, '$.summary') = 1)")
	if got := context(); got != 0 {
		t.Errorf("after the summary: %d", got)
	}
}

// The limit for which the provider refused a request is shown until the next prompt.
func TestQuota(t *testing.T) {
	const refused = `{"role":"assistant","time":{"created":1795296617637,"completed":1795296620584},"error":{"name":"APIError","data":` +
		`{"message":"Insufficient balance","statusCode":402,"isRetryable":false}}}`
	dir := restore(t, "family")
	db := filepath.Join(dir, "opencode.db")
	execute(t, db, "insert into message values ('msg_f', 'ses_e00011cb1ffe1cYGmjra8CLZP5', 1795296617637, 1, '"+refused+"')")
	read := func() []discover.Quota {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: "ses_e00011cb1ffe1cYGmjra8CLZP5"}, whole)
		if err != nil || len(records) != 1 {
			t.Fatalf("%+v, %v", records, err)
		}
		return records[0].Quotas
	}
	if q := read(); len(q) != 1 || !q[0].Reached || q[0].Text != "Insufficient balance" || !q[0].Resets.IsZero() || q[0].Time.UnixMilli() != 1795296620584 {
		t.Errorf("%+v", q)
	}
	execute(t, db, "update message set data = replace(data, '402', '400') where id = 'msg_f'")
	if q := read(); q != nil {
		t.Errorf("another error: %+v", q)
	}
}

// A cost of 0 is that of a model without a price: it is unknown if there are tokens.
func TestCostOfModelWithoutPriceIsUnknown(t *testing.T) {
	tokens := sumTokens(discover.Tokens{In: 5, Out: 2})
	for _, tc := range []struct {
		usage        usage
		tokens, cost bool
	}{
		{usage{}, false, false},
		{usage{Tokens: tokens}, true, false},
		{usage{Tokens: tokens, Cost: 0.25}, true, true},
	} {
		s := &session{used: tc.usage}
		if r := s.record(); (r.Tokens != nil) != tc.tokens || (r.Cost != nil) != tc.cost {
			t.Errorf("%+v: tokens %v, cost %v", tc.usage, r.Tokens, r.Cost)
		}
	}
}

const (
	oldSession = "ses_e05979612ffe415jjjmvTetWgF"
	oldProject = "d2304ff913de73db02e9ba504b82bcd82ab7e080"
	oldMessage = "msg_1fa687310001ATVgJybZXFFlxU" // its last
)

// A file that is cut at any byte costs one warning that names it, and never gives the facts of another session.
func TestLegacyTornFiles(t *testing.T) {
	dir := capture(t, "json-1.1.65-run-finished")
	for file, survives := range map[string]bool{
		filepath.Join(dir, "storage", "session", oldProject, oldSession+".json"): false,
		filepath.Join(dir, "storage", "message", oldSession, oldMessage+".json"): true,
	} {
		raw, err := os.ReadFile(file)
		must.Do(t, err)
		for cut := range bytes.TrimRight(raw, "\n") {
			writeFile(t, file, raw[:cut])
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: oldSession}, discover.ReadOptions{})
			oneWarning(t, err, file)
			if survives != (len(records) == 1) {
				t.Fatalf("%s cut at %d: %v", file, cut, records)
			}
			if survives && (records[0].ID != oldSession || records[0].Title != "JT" || records[0].Turn.State != discover.TurnUnknown) {
				t.Fatalf("%s cut at %d: %+v", file, cut, records[0])
			}
		}
		writeFile(t, file, raw)
	}
}

func TestLegacyUnreadableFiles(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string) error
		warns  bool
	}{
		"another session's": {func(t *testing.T, path string) error {
			writeFile(t, path, []byte(`{"id":"ses_other","title":"not this one"}`))
			return nil
		}, true},
		"binary": {func(t *testing.T, path string) error {
			writeFile(t, path, bytes.Repeat([]byte{0, 0xff}, 500))
			return nil
		}, true},
		"deep": {func(t *testing.T, path string) error {
			writeFile(t, path, bytes.Repeat([]byte(`{"a":`), 50000))
			return nil
		}, true},
		"empty": {func(t *testing.T, path string) error { writeFile(t, path, nil); return nil }, true},
		"huge":  {func(_ *testing.T, path string) error { return os.Truncate(path, maxLegacyFile+1) }, true},
		"a FIFO": {func(_ *testing.T, path string) error {
			return refill(path, func() error { return syscall.Mkfifo(path, 0o600) })
		}, true},
		"a link": {func(_ *testing.T, path string) error {
			return refill(path, func() error { return os.Symlink("/dev/zero", path) })
		}, true},
		"missing": {func(_ *testing.T, path string) error { return os.Remove(path) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := capture(t, "json-1.1.65-run-finished")
			path := filepath.Join(dir, "storage", "session", oldProject, oldSession+".json")
			must.Do(t, c.damage(t, path))
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
			if len(records) != 2 {
				t.Errorf("%d records, want the other two", len(records))
			}
			if c.warns {
				oneWarning(t, err, path)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func refill(path string, fill func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return fill()
}

func FuzzLegacySession(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata/json-1.1.65-run-finished/storage/session", oldProject, oldSession+".json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := mkdir(t, filepath.Join(t.TempDir(), "storage", "session", "global"))
		writeFile(t, filepath.Join(dir, oldSession+".json"), data)
		records, _ := readRecords(t, homeOf(filepath.Dir(filepath.Dir(filepath.Dir(dir)))), discover.EntryFilter{Subagents: true}, whole)
		for _, r := range records {
			if r.ID != oldSession {
				t.Errorf("%q: session %s", data, r.ID)
			}
		}
	})
}
