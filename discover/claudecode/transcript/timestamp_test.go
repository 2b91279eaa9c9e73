package transcript

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover/native/fsread"
)

// parseTimestamp returns the time of a record by parsing all of it: that of its outermost object, or of the snapshot in it.
func parseTimestamp(t testing.TB, line []byte) (kind, stamp string, ok bool) {
	t.Helper()
	var record struct {
		Type      string          `json:"type"`
		Timestamp json.RawMessage `json:"timestamp"`
		Snapshot  struct {
			Timestamp json.RawMessage `json:"timestamp"`
		} `json:"snapshot"`
	}
	if json.Unmarshal(line, &record) != nil {
		return "", "", false
	}
	if record.Timestamp == nil {
		record.Timestamp = record.Snapshot.Timestamp
	}
	return record.Type, string(record.Timestamp), true
}

func checkTimestamp(t testing.TB, line []byte) {
	t.Helper()
	kind, want, ok := parseTimestamp(t, line)
	if !ok {
		return
	}
	if got := timestampOf(line); string(got[:min(len(got), len(want))]) != want {
		t.Errorf("the time is %s, not %.30s: %.300s", want, got, line)
	}
	if hasNoTimestamp([]byte(kind)) && want != "" {
		t.Errorf("it has a time: %.300s", line)
	}
	if bytes.HasPrefix(line, []byte(`{"parentUuid"`)) && kind == "user" && want != "" {
		if got, want := isPrompt(timestampOf(line)), bytes.Contains(line, []byte(`,"permissionMode":"`)); got != want {
			t.Errorf("a prompt is readMessages: %v: %.300s", got, line)
		}
	}
}

// The time of each captured record is found, by the fast search and by the full one.
func TestTimestampsOfRealRecords(t *testing.T) {
	lines := 0
	err := filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		content, err := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			checkTimestamp(t, bytes.TrimSuffix(line, []byte{'\n'}))
			lines++
		}
		return err
	})
	if err != nil || lines < 1000 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// A time in a tool's result is not the record's.
func TestTimestampsInToolResults(t *testing.T) {
	const begin, end = `{"parentUuid":"p","isSidechain":false,"type":"user","message":{"role":"user","content":[]},"uuid":"u"`, `,"cwd":"/w}","version":"2.1.330"}`
	const own, other = `,"timestamp":"2026-01-01T00:00:00.000Z"`, `"timestamp":"2031-01-01T00:00:00.000Z"`
	for _, line := range []string{
		begin + own + `,"toolUseResult":{` + other + `}` + end,
		begin + own + `,"toolUseResult":{"a":[{` + other + `}],"b":"` + strings.Repeat("x", 5000) + `"}` + end,
		begin + own + `,"mcpMeta":{"structuredContent":{` + other + `,"z":"Z"}}` + end,
		begin + own + `,"rendered":"` + strings.Repeat(`{\"timestamp\":\"2031-01-01T00:00:00.000Z\"}`, 50) + `"` + end,
		begin + `,"toolUseResult":{` + other + `}` + own + end,
		begin + `,"toolUseResult":{` + other + `}` + end,
		begin + `,"timestamp":1767225600` + end,
		`{"type":"queue-operation","operation":"enqueue"` + own + `,"content":"` + strings.Repeat("}", 2000) + `"}`,
	} {
		checkTimestamp(t, []byte(line))
	}
	var tail Tail
	record := begin + own + `,"toolUseResult":{` + other + `}` + end + "\n"
	if must(t, tail.Read(fsread.NewMemoryFile("memory", []byte(record), time.Time{}))); tail.Updated.Year() != 2026 {
		t.Errorf("updated %s", tail.Updated)
	}
}

func FuzzTimestamp(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"timestamp":"2026-01-01T00:00:00.000Z"},"timestamp":"2027-01-01T00:00:00.000Z","x":{}}`))
	f.Add([]byte(`{"type":"file-history-snapshot","snapshot":{"timestamp":"2026-01-01T00:00:00.000Z"},"isSnapshotUpdate":false}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Count(line, []byte(`"timestamp"`)) > 1 || bytes.ContainsAny(line, "\\\n") || !json.Valid(line) {
			_ = timestampOf(line) // of two in one object, or of escaped keys, either may count
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(line, &members) != nil || len(members) == 0 {
			return
		}
		if want := string(members["timestamp"]); want != "" {
			if got := timestampOf(line); !bytes.HasPrefix(got, []byte(want)) {
				t.Errorf("%s, not %.40s: %s", want, got, line)
			}
		}
	})
}
