package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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

// A damaged page costs only what is on it. All other sessions are the same, and the warning names the missing ones.
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
	must(t, err)
	hidden, roots, named, told := 0, 0, 0, 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		writeFile(t, path, damage(whole, page))
		got, err := readRecords(t, home, query, discover.ReadOptions{Tokens: true})
		text := fmt.Sprint(err)
		if len(got) == 0 && err != nil && !strings.Contains(text, "ses_") {
			hidden++ // a page of the schema
			continue
		}
		if err != nil {
			told++
			oneOfPath(t, err, path)
		}
		for _, w := range want {
			i := slices.IndexFunc(got, func(r discover.Record) bool { return r.ID == w.ID })
			switch isNamed := strings.Contains(text, w.ID) || strings.Contains(text, " more "); {
			case i >= 0 && reflect.DeepEqual(got[i], w):
			case !isNamed:
				t.Errorf("page %d: %s is lost or not what it was, and not named in %v", page, w.ID, err)
			case i < 0:
				named++
				missing(t, home, w.ID, page)
			case got[i].Turn.State == discover.TurnNone:
				t.Errorf("page %d: %s has no messages any more", page, w.ID)
			}
		}
		if len(got) == 0 {
			roots++
		}
	}
	if hidden > 1 || roots > 1 || named < 10 || told < 20 {
		t.Errorf("%d pages of the schema, %d of the table hide all; %d sessions were named, %d errors", hidden, roots, named, told)
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

// missing fails unless a session that cannot be read is an entry if a filter names it, and reading it gives a warning.
func missing(t *testing.T, homes []discover.Home, id string, page int) {
	t.Helper()
	entries, _ := New().Entries(t.Context(), homes, discover.EntryFilter{ID: id, Subagents: true})
	if len(entries) != 1 || entries[0].ID != id {
		t.Errorf("page %d: %s is not listed: %v", page, id, entries)
	}
	for r, err := range New().Read(t.Context(), entries, discover.ReadOptions{}) {
		if err == nil || !strings.Contains(err.Error(), id+" cannot be read") {
			t.Errorf("page %d: %s: %v, %v", page, id, r, err)
		}
	}
}

// A record is small, whatever its row contains.
func TestRecordsAreSmall(t *testing.T) {
	dir := restore(t, "archived")
	long := "hex(zeroblob(300000))"
	execute(t, filepath.Join(dir, "opencode.db"),
		"update session set title = "+long+", directory = "+long+", slug = "+long+", version = "+long+", project_id = "+long+", agent = "+long+", permission = "+long+", model = json_object('id', "+long+", 'providerID', "+long+")",
		"update message set data = json_set(data, '$.agent', "+long+", '$.modelID', "+long+", '$.providerID', "+long+", '$.variant', "+long+", '$.path.cwd', "+long+", '$.error', json_object('name', 'E', 'data', json_object('message', "+long+")))",
		"update part set data = json_set(data, '$.text', "+long+", '$.tool', "+long+", '$.state.input.command', "+long+")",
	)
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, whole)
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if size := len(fmt.Sprintf("%+v", r)); size > 32<<10 {
			t.Errorf("a record of %d bytes", size)
		}
	}
}
