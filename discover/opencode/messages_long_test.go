package opencode

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// All batches together have the same messages, wherever a batch ends.
func TestMessagesInBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	execute(t, path, transcriptSchema...)
	const turns = 300
	addTurns(t, path, 0, turns, 10)
	list, errs := messagesOf(t, discover.Record{ID: longSession, Path: path})
	if len(errs) > 0 || len(list) != 3*turns {
		t.Fatalf("%d messages, %v", len(list), errs)
	}
	for i, m := range slices.Backward(list) {
		n := turns - 1 - i/3
		want := []string{fmt.Sprint("answer ", n), "", fmt.Sprint("prompt ", n)}[i%3]
		if m.Text != want {
			t.Fatalf("message %d: %q, want %q", i, m.Text, want)
		}
	}
}
