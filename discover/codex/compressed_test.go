package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"agentctl/discover"
	"agentctl/tests/must"
)

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must.Do(t, err)
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// A compressed rollout gives the same record as the plain one.
func TestCompressedRecordsEqualPlain(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*/sessions/*/*/*/*.jsonl")
	if len(paths) < 20 {
		t.Fatalf("%d rollouts", len(paths))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must.Do(t, err)
		var got [2]string
		for i, ext := range []string{plainExt, compressedExt} {
			w := newTestHome(t)
			content := data
			if ext == compressedExt {
				content = compress(t, data)
			}
			w.file("sessions/2026/11/20/"+strings.Replace(filepath.Base(path), plainExt, ext, 1), string(content))
			records := readHome(t, w.home, discover.ReadOptions{Full: true})
			if len(records) != 1 {
				t.Fatalf("%s: %d records", path, len(records))
			}
			r := records[0]
			if len(data) == 0 {
				r.Updated = r.Created // the file's own time
			}
			r.Path, r.Home = "", ""
			text, _ := json.Marshal(r)
			got[i] = string(text)
		}
		if got[0] != got[1] {
			t.Errorf("%s:\nplain  %s\npacked %s", path, got[0], got[1])
		}
	}
}

// A compressed rollout gives the same messages as the plain one, with the same IDs. If it is too long to be kept as a whole, its middle is
// left out and a warning says so.
func TestCompressedMessagesEqualPlain(t *testing.T) {
	paths, _ := filepath.Glob("testdata/3[0-6]*/sessions/*/*/*/*.jsonl")
	long := []string{metaLine, startedLine, contextLine}
	for i := range 5000 {
		long = append(long, strings.Replace(askedLine, "do it", fmt.Sprint(i)+strings.Repeat(" do it", 2000), 1))
	}
	w := newTestHome(t)
	paths = append(paths, w.file(nameB, string(rollout(long...))))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must.Do(t, err)
		name, _ := parseRolloutName(filepath.Base(path))
		plain, missing := messagesOf(t, discover.Record{ID: name.id, Path: path, Home: w.home})
		packed := w.file(filepath.Base(path)+strings.TrimPrefix(compressedExt, plainExt), string(compress(t, data)))
		got, warnings := messagesOf(t, discover.Record{ID: name.id, Path: packed, Home: w.home})
		left := len(plain) - len(got)
		if isLong := len(data) > keptHead+2*keptTail; isLong != (left > 0) || isLong && len(warnings) != 1 || !isLong && len(warnings) != len(missing) {
			t.Errorf("%s: %d of %d messages are left out, warnings %v", path, left, len(plain), warnings)
		}
		for i, j := 0, 0; j < len(got); i, j = i+1, j+1 {
			for i < len(plain) && plain[i].ID != got[j].ID {
				i++
			}
			if i == len(plain) || plain[i].Text != got[j].Text {
				t.Fatalf("%s: message %d, %s, is not in the plain one", path, j, got[j].ID)
			}
		}
	}
}

// A compressed file that is cut off, as by a crash, gives a warning.
func TestCompressedAndCutOff(t *testing.T) {
	w := newTestHome(t)
	whole := compress(t, rollout(metaLine, startedLine, contextLine, askedLine, completeLine))
	w.file("sessions/2026/11/20/"+strings.Replace(nameA, plainExt, compressedExt, 1), string(whole[:len(whole)-9]))
	if records, warnings := readEntries(t, w.home, discover.EntryFilter{}, discover.ReadOptions{}); len(records) != 0 || len(warnings) != 1 {
		t.Errorf("records %+v, warnings %v", records, warnings)
	}
}

// Records before the gap do not decide on the newest turn.
func TestGapHidesAnOlderTurn(t *testing.T) {
	filler := strings.Repeat(answerLine+"\n", 4000)
	data := append(rollout(metaLine, startedLine, contextLine, askedLine), filler...)
	kept, g, err := readHeadAndTail(t.Context(), bytes.NewReader(data), 2000, 20000, int64(len(data)))
	if err != nil || g.size == 0 {
		t.Fatalf("kept all, but for %+v: %v", g, err)
	}
	e := discover.Entry{ID: someID, Path: "/x/rollout"}
	f := memory(kept)
	var r storedThread
	if err := r.readFile(f, f.Size()-g.start, e, readOptions{ReadOptions: discover.ReadOptions{Full: true}}); err != nil || r.Turn.State != discover.TurnUnknown || r.Prompt != "do it" {
		t.Errorf("record %+v, %v", r, err)
	}
}
