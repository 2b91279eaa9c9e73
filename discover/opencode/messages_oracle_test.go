package opencode

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
)

// lastTexts is the last text of the user and of the model, by a plain query.
type lastTexts struct{ user, assistant string }

type plainMessage struct {
	ID, Role string
	Time     struct{ Created int64 }
}

type plainPart struct {
	Type, Text         string
	Synthetic, Ignored bool
}

func (l *lastTexts) take(m plainMessage, parts []plainPart) {
	for _, p := range parts {
		switch {
		case p.Type != "text" || p.Text == "" || p.Synthetic || p.Ignored:
		case m.Role == "user":
			l.user = p.Text
		case m.Role == "assistant":
			l.assistant = p.Text
		}
	}
}

// lastTextsOf reads a session's messages in the order in which the agent does.
func lastTextsOf(t *testing.T, r discover.Record) (l lastTexts) {
	t.Helper()
	if filepath.Ext(r.Path) == ".json" {
		places := newLegacyMessages(t.Context(), r.Path, r.ID)
		for _, path := range sortedGlob(places.dir + "/*.json") {
			var m plainMessage
			decode(t, path, &m)
			var parts []plainPart
			for _, path := range sortedGlob(places.partDir(m.ID) + "/*.json") {
				var p plainPart
				decode(t, path, &p)
				parts = append(parts, p)
			}
			l.take(m, parts)
		}
		return l
	}
	db, err := sql.Open("sqlite3", "file:"+clone(t, r.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, row := range pairs(t, db, "select id, data from message where session_id = ? order by time_created, id", r.ID) {
		var m plainMessage
		unmarshal(t, row[1], &m)
		var parts []plainPart
		for _, row := range pairs(t, db, "select id, data from part where message_id = ? order by id", row[0]) {
			var p plainPart
			unmarshal(t, row[1], &p)
			parts = append(parts, p)
		}
		l.take(m, parts)
	}
	return l
}

// clone copies a database with its write-ahead log, which SQLite would change.
func clone(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, end := range []string{"", "-wal"} {
		if raw, err := os.ReadFile(path + end); err == nil {
			writeFile(t, to+end, raw)
		}
	}
	return to
}

func sortedGlob(pattern string) []string {
	paths, _ := filepath.Glob(pattern)
	slices.Sort(paths)
	return paths
}

func pairs(t *testing.T, db *sql.DB, query, arg string) (out [][2]string) {
	t.Helper()
	rows, err := db.Query(query, arg)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var p [2]string
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func unmarshal(t *testing.T, raw string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), to); err != nil {
		t.Fatalf("%v: %.100s", err, raw)
	}
}

// In every captured store, the last texts among the messages are those of a plain query.
func TestLastTextsAreThoseOfTheStore(t *testing.T) {
	texts := 0
	for name, unpack := range captured(t) {
		t.Run(name, func(t *testing.T) {
			records, err := readRecords(t, homeOf(unpack()), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				list, errs := messagesOf(t, r)
				if len(errs) > 0 {
					t.Error(errs)
				}
				var got lastTexts
				for _, m := range slices.Backward(list) {
					switch {
					case m.Kind == discover.KindCompaction && m.Text != "":
						got.assistant = m.Text
					case m.Kind != discover.KindText:
					case m.Role == discover.RoleUser:
						got.user = m.Text
					default:
						got.assistant = m.Text
					}
				}
				want := lastTextsOf(t, r)
				if got != want {
					t.Errorf("%s: %q, want %q", r.ID, got, want)
				}
				if want != (lastTexts{}) {
					texts++
				}
			}
		})
	}
	if texts < 30 {
		t.Errorf("%d sessions have texts", texts)
	}
}
