package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	must(t, err)
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

// oneOfPath fails if an error has anything but warnings about a path.
func oneOfPath(t *testing.T, err error, path string) {
	t.Helper()
	w, ok := errors.AsType[*discover.Warning](err)
	if !ok || w.Path != path {
		t.Errorf("not a warning about %s: %v", path, err)
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
