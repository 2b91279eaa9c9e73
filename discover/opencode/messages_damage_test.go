package opencode

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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
		"vanishes": func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"is another's": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			execute(t, path, transcriptSchema...)
		},
		"is empty":       func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A file that is cut at any byte gives no message, and does not change the messages of other files.
func TestMessagesOfTornFiles(t *testing.T) {
	const session = "ses_e000023d4ffebRkp7C1bgDAMXG"
	dir := capture(t, "json-1.1.65-family")
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: session}, discover.ReadOptions{})
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	whole, _ := messagesOf(t, records[0])
	for _, pattern := range []string{"storage/part/*/prt_1ffffdd3e002*.json", "storage/message/*/msg_1ffffdd31001*.json", "storage/part/*/prt_1ffffdc7d001*.json"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(paths) != 1 {
			t.Fatal(paths)
		}
		raw, err := os.ReadFile(paths[0])
		must(t, err)
		for end := 0; end < len(raw); end += 1 + len(raw)/20 {
			writeFile(t, paths[0], raw[:end])
			list, errs := messagesOf(t, records[0])
			if len(errs) != 1 || len(list) >= len(whole) {
				t.Fatalf("cut at %d: %d messages of %d, %v", end, len(list), len(whole), errs)
			}
			oneWarning(t, errs[0], paths[0])
			for _, m := range list {
				i := slices.IndexFunc(whole, func(w discover.Message) bool { return w.ID == m.ID })
				// The newest part of an answer has its tokens, which may be another part now.
				if w := whole[i]; w.Text != m.Text || !w.Time.Equal(m.Time) || !reflect.DeepEqual(w.Tool, m.Tool) {
					t.Fatalf("cut at %d: %+v, was %+v", end, m, w)
				}
			}
		}
		must(t, os.Remove(paths[0]))
		if _, errs := messagesOf(t, records[0]); len(errs) != 0 {
			t.Errorf("vanished: %v", errs)
		}
		writeFile(t, paths[0], raw)
	}
}
