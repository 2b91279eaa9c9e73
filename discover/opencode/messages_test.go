package opencode

import (
	"database/sql"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/tests/must"
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

// The records and messages of every captured store are those in the golden files.
func TestGolden(t *testing.T) {
	for name, unpack := range captured(t) {
		t.Run(name, func(t *testing.T) {
			dir := unpack()
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole)
			must.Do(t, err)
			compareGolden(t, name, dir, records)
			got := map[string][]discover.Message{}
			for _, r := range records {
				list, errs := messagesOf(t, r)
				if len(errs) > 0 {
					t.Error(errs)
				}
				got[r.ID] = list
			}
			compareGolden(t, filepath.Join("messages", name), dir, got)
		})
	}
}

const longSession = "ses_long0000000000000000000000"

// transcriptSchema is the part of the agent's schema that messages need.
var transcriptSchema = []string{
	"create table session(id text primary key, parent_id text, time_created integer, time_updated integer)",
	"create table message(id text primary key, session_id text, time_created integer, time_updated integer, data text)",
	"create table part(id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text)",
	"create index message_session_time_created_id_idx on message (session_id, time_created, id)",
	"create index part_message_id_id_idx on part (message_id, id)",
	"insert into session values ('" + longSession + "', null, 1, 2)",
}

// addTurns adds n turns to a session, each with a number: a prompt, an answer with a tool output of the given size, and a final text.
func addTurns(t testing.TB, path string, from, n, output int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=synchronous(off)")
	must.Do(t, err)
	defer db.Close()
	tx, err := db.Begin()
	must.Do(t, err)
	put := func(query string, args ...any) {
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for i := from; i < from+n; i++ {
		at := int64(1_000_000 + i*1000)
		part := func(k int, message, data string) {
			put("insert into part values (?, ?, ?, ?, ?, ?)", fmt.Sprintf("prt_%08d%d", i, k), message, longSession, at, at, data)
		}
		asked, answer := fmt.Sprintf("msg_%08da", i), fmt.Sprintf("msg_%08db", i)
		put("insert into message values (?, ?, ?, ?, ?)", asked, longSession, at, at, fmt.Sprintf(`{"role":"user","time":{"created":%d},"summary":{"diffs":%q}}`, at, strings.Repeat("-", output)))
		part(0, asked, fmt.Sprintf(`{"type":"text","text":"prompt %d"}`, i))
		put("insert into message values (?, ?, ?, ?, ?)", answer, longSession, at+1, at+9, fmt.Sprintf(
			`{"role":"assistant","parentID":%q,"time":{"created":%d,"completed":%d},"finish":"stop","tokens":{"input":%d,"output":1}}`, asked, at+1, at+9, i,
		))
		part(1, answer, `{"type":"step-start"}`)
		part(2, answer, fmt.Sprintf(`{"type":"reasoning","text":%q}`, strings.Repeat("thought ", output/8)))
		part(3, answer, fmt.Sprintf(`{"type":"tool","tool":"bash","callID":"call%d","state":{"status":"completed","input":{"command":"true"},"output":%q,"time":{"start":%d,"end":%d}}}`, i, strings.Repeat("x", output), at+2, at+3))
		part(4, answer, fmt.Sprintf(`{"type":"text","text":"answer %d","time":{"start":%d,"end":%d}}`, i, at+4, at+5))
	}
	must.Do(t, tx.Commit())
}

// Each row that cannot be read costs one warning and only its own messages. Unknown kinds of messages and parts cost no warning.
func TestMessagesOfDamagedRows(t *testing.T) {
	for name, c := range map[string]struct {
		damage   string
		warnings int
		lost     int
	}{
		"a part that is torn":         {`update part set data = substr(data, 1, 40) where id = 'prt_000000034'`, 1, 1},
		"a part that is no JSON":      {`update part set data = x'00ff' where id = 'prt_000000034'`, 1, 1},
		"a part without anything":     {`update part set data = null where id = 'prt_000000034'`, 1, 1},
		"a part that is too large":    {`update part set data = '{"type":"text","text":"' || hex(zeroblob(9000000)) || '"}' where id = 'prt_000000034'`, 1, 1},
		"a thought that is too large": {`update part set data = '{"type":"reasoning","text":"' || hex(zeroblob(9000000)) || '"}' where id = 'prt_000000032'`, 0, 0},
		"a part of an unknown sort":   {`update part set data = '{"type":"dance","steps":[1,{"x":2}]}' where id = 'prt_000000034'`, 0, 1},
		"an answer that is torn":      {`update message set data = substr(data, 1, 40) where id = 'msg_00000003b'`, 1, 0},
		"an answer that is no JSON":   {`update message set data = 'no' where id = 'msg_00000003b'`, 1, 2},
		"a message of nobody":         {`update message set data = '{"role":"ghost"}' where id = 'msg_00000003b'`, 0, 2},
		"a part of nothing":           {`insert into part values ('prt_x', 'msg_x', 'ses_x', 1, 1, '{}')`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "opencode.db")
			execute(t, path, transcriptSchema...)
			addTurns(t, path, 0, 6, 10)
			r := discover.Record{ID: longSession, Path: path}
			before, _ := messagesOf(t, r)
			execute(t, path, c.damage)
			after, errs := messagesOf(t, r)
			for _, err := range errs {
				oneWarning(t, err, path)
			}
			if len(errs) != c.warnings || len(after) != len(before)-c.lost {
				t.Fatalf("%d messages of %d, %v", len(after), len(before), errs)
			}
			for _, m := range after {
				known := slices.ContainsFunc(before, func(b discover.Message) bool { return b.ID == m.ID && b.Text == m.Text })
				if !known {
					t.Errorf("it says now %+v", m)
				}
			}
		})
	}
}

// A store may grow, vanish, or be replaced between two batches.
func TestMessagesOfChangingStore(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"grows": func(t *testing.T, path string) { addTurns(t, path, 100, 50, 10) },
		"shrinks": func(t *testing.T, path string) {
			execute(t, path, "delete from message where id < 'msg_00000050'", "vacuum")
		},
		"vanishes": func(t *testing.T, path string) { must.Do(t, os.Remove(path)) },
		"is another's": func(t *testing.T, path string) {
			must.Do(t, os.Remove(path))
			execute(t, path, transcriptSchema...)
		},
		"is empty":       func(t *testing.T, path string) { must.Do(t, os.Truncate(path, 0)) },
		"is no database": func(t *testing.T, path string) { writeFile(t, path, []byte(strings.Repeat("not a database ", 100))) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "opencode.db")
			execute(t, path, transcriptSchema...)
			addTurns(t, path, 0, 100, 10)
			seen := map[string]bool{}
			var failures []error
			for m, err := range New().Messages(t.Context(), discover.Record{ID: longSession, Path: path}) {
				if err != nil {
					failures = append(failures, err)
					continue
				}
				if seen[m.ID] {
					t.Errorf("%s is told twice", m.ID)
				}
				if seen[m.ID] = true; len(seen) == 3 {
					change(t, path)
				}
			}
			if len(seen) < firstBatch || name == "grows" && len(seen) != 300 || name == "is no database" != (len(failures) == 1) {
				t.Errorf("%d messages, %v", len(seen), failures)
			}
		})
	}
	if list, errs := messagesOf(t, discover.Record{ID: longSession, Path: filepath.Join(t.TempDir(), "none.db")}); list != nil || errs != nil {
		t.Errorf("of none: %v, %v", list, errs)
	}
}

// Messages that the user sends while the agent answers are where they were sent.
func TestInTimeOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var store []transcriptItem // oldest first, answers and prompts by when they began
		var want []discover.Message
		clock := int64(0)
		tick := func() time.Time {
			clock += rapid.Int64Range(1, 3).Draw(r, "tick")
			return time.UnixMilli(clock)
		}
		say := func(answer string) transcriptItem {
			s := transcriptItem{Message: discover.Message{ID: fmt.Sprint(len(want)), Time: tick()}, answer: answer}
			want = append(want, s.Message)
			return s
		}
		for n := range rapid.IntRange(0, 12).Draw(r, "answers") {
			for range rapid.IntRange(0, 3).Draw(r, "prompts before") {
				store = append(store, say(""))
			}
			var parts, meanwhile []transcriptItem
			for range rapid.IntRange(0, 4).Draw(r, "parts") {
				parts = append(parts, say(fmt.Sprint("answer ", n)))
				for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(r, "prompts meanwhile") {
					meanwhile = append(meanwhile, say(""))
				}
			}
			store = append(append(store, parts...), meanwhile...)
		}
		var got []discover.Message
		backwards := func(yield func(transcriptItem) bool) {
			for _, s := range slices.Backward(store) {
				if !yield(s) {
					return
				}
			}
		}
		for m, err := range inTimeOrder(iter.Seq[transcriptItem](backwards)) {
			if err != nil {
				r.Fatal(err)
			}
			got = append(got, m)
		}
		slices.Reverse(got)
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}
