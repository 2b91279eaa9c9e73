package opencode

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
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

// extend extends a database to a size by a hole at its end.
func extend(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var pages [4]byte
	binary.BigEndian.PutUint32(pages[:], uint32(size/4096)) // the size in pages (fileformat2, 1.3.8)
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(pages[:], 28); err != nil {
		t.Fatal(err)
	}
}

// counted counts the bytes that are read.
type counted struct {
	*os.File
	bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(p, off)
	c.bytes += n
	return n, err
}

// The bytes read for the newest messages do not depend on the size of the database, here 1 GB.
func TestMessagesCost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	execute(t, path, transcriptSchema...)
	addTurns(t, path, 0, 3000, 2000)
	extend(t, path, 1<<30)
	addTurns(t, path, 3000, 1000, 2000)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= 1<<30 {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	c := &counted{File: f}
	db, err := sqlite.Open(t.Context(), c, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	st, err := newDatabase("", path, db)
	if err != nil {
		t.Fatal(err)
	}
	g := (&messageBatch{}).next(st.messages(longSession), firstBatch)
	if db.Err() != nil || len(g.items) < 20 || g.items[0].Text != "answer 3999" {
		t.Fatalf("%d messages, %v", len(g.items), db.Err())
	}
	t.Logf("%d bytes of %d", c.bytes, info.Size())
	if c.bytes > 512<<10 {
		t.Errorf("%d bytes of %d were read", c.bytes, info.Size())
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
	// Again, in batches of one message.
	var one []transcript.Item
	err := readDatabase(t.Context(), "", path, func(st *database) {
		one = nil
		var last messageBatch
		for {
			last = last.next(st.messages(longSession), 1)
			if one = append(one, last.items...); last.done {
				return
			}
		}
	})
	if err != nil || len(one) != len(list) {
		t.Fatalf("%d messages, %v", len(one), err)
	}
	for i, s := range one {
		if s.ID != list[i].ID || (s.Tokens == nil) != (list[i].Tokens == nil) {
			t.Fatalf("message %d: %+v, want %+v", i, s, list[i])
		}
	}
}

// Only the files of the messages that the caller takes are read, and of one more.
func TestLegacyMessagesCost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "storage")
	r := discover.Record{ID: longSession, Path: filepath.Join(mkdir(t, filepath.Join(dir, "session", "global")), longSession+".json")}
	messages := mkdir(t, filepath.Join(dir, "message", longSession))
	const all, taken = 1000, 20
	for i := range all {
		id := fmt.Sprintf("msg_%08d", i)
		if i < all-taken-1 {
			writeFile(t, filepath.Join(messages, id+".json"), []byte("who reads this is told so"))
			continue
		}
		role := []string{"user", "assistant"}[i%2]
		writeFile(t, filepath.Join(messages, id+".json"), fmt.Appendf(nil, `{"id":%q,"role":%q,"time":{"created":%d}}`, id, role, i+1))
		writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "part", id)), "prt_1.json"), fmt.Appendf(nil, `{"type":"text","text":"text %d"}`, i))
	}
	n := 0
	for m, err := range New().Messages(t.Context(), r) {
		if want := fmt.Sprint("text ", all-1-n); err != nil || m.Text != want {
			t.Fatalf("%q, %v, want %q", m.Text, err, want)
		}
		if n++; n == taken {
			break
		}
	}
}
