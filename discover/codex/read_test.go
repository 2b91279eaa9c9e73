package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// parse reads bytes as the rollout of a thread and returns the record as JSON.
func parse(t testing.TB, data []byte, id string) (string, error) {
	t.Helper()
	e := discover.Entry{Agent: "codex", ID: id, Path: "/x/sessions/2026/11/20/rollout.jsonl", Home: "/x"}
	var r storedThread
	r.reset(e)
	if err := r.readFile(fsread.NewMemoryFile(e.Path, data, time.Time{}), tailLimit, e, discover.ReadOptions{Full: true}); err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// Any bytes give no panic, no other thread's ID and bounded texts, and a torn last line changes nothing.
func FuzzRollout(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/sessions/*/*/*/*.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 5<<10 { // small ones mutate faster
			name, _ := parseRolloutName(filepath.Base(path))
			f.Add(bytes.ReplaceAll(data, []byte(name.id), []byte(someID)))
		}
	}
	f.Add([]byte("{\"timestamp\":\"\",\"type\":\"session_meta\",\"payload\":{}}\n"))
	f.Add([]byte{0, 255, '\n'})
	f.Add(rollout(metaLine, startedLine, contextLine, askedLine, callLine, outputLine, silentLine, settingsLine))
	f.Add(rollout(metaLine, reviewLine, answerLine, failedLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := bytes.LastIndexByte(data, '\n') + 1
		got, err := parse(t, data, someID)
		if whole, wholeErr := parse(t, data[:end], someID); end > 0 && (got != whole || (err == nil) != (wholeErr == nil)) {
			t.Fatalf("torn:  %s, %v\nwhole: %s, %v", got, err, whole, wholeErr)
		}
		if err != nil {
			return
		}
		var r discover.Record
		if json.Unmarshal([]byte(got), &r) != nil || len([]rune(r.Prompt)) > discover.PromptLimit {
			t.Fatalf("record %s", got)
		}
		if r.ID != someID && !bytes.Contains(data[:bytes.IndexByte(data, '\n')+1], []byte(`"session_meta"`)) {
			t.Fatalf("another thread's id %q", r.ID)
		}
	})
}

// A damaged ID is neither shown nor looked up.
func TestDamagedIDs(t *testing.T) {
	for _, id := range []string{"../../x", `\u001b[31m`, someID + "0", strings.ToUpper(someID)} {
		meta := strings.Replace(metaLine, `"id":"`+someID+`"`, `"id":"`+id+`","session_id":"`+id+`","forked_from_id":"`+id+`","parent_thread_id":"`+id+`"`, 1)
		text, err := parse(t, rollout(meta, startedLine, completeLine), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil || r.ID != someID || r.Parent != "" || r.ForkedFrom != "" {
			t.Errorf("%s: %v, %s", id, err, text)
		}
	}
}

// Each field of a record comes from the record of the rollout that decides it.
func TestRecordFields(t *testing.T) {
	other := strings.ReplaceAll(metaLine, someID, "01a1fa6a-0000-7310-8297-cbac269b6576")
	for name, test := range map[string]struct {
		lines []string
		check func(r discover.Record) bool
	}{
		"review hint":         {[]string{metaLine, reviewLine}, func(r discover.Record) bool { return r.Prompt == "the diff" }},
		"first prompt":        {[]string{metaLine, reviewLine, askedLine, strings.Replace(askedLine, "do it", "more", 1)}, func(r discover.Record) bool { return r.Prompt == "do it" }},
		"settings if no turn": {[]string{metaLine, settingsLine}, func(r discover.Record) bool { return r.Model == "n" && r.Dir == "/v" && r.Meta.Get("startDir") == "/w" }},
		"turn over settings":  {[]string{metaLine, contextLine, settingsLine}, func(r discover.Record) bool { return r.Model == "m" && r.Dir == "/w" }},
		"newest time":         {[]string{metaLine, settingsLine, askedLine}, func(r discover.Record) bool { return r.Updated.Second() == 8 }},
		"parent's meta after": {[]string{metaLine, other}, func(r discover.Record) bool { return r.ID == someID }},
		"own meta is torn":    {[]string{metaLine[:50], other, askedLine, metaLine}, func(r discover.Record) bool { return r.ID == someID && r.Dir == "/w" }},
		"long prompt":         {[]string{metaLine, strings.Replace(askedLine, "do it", strings.Repeat("ä", 5000), 1)}, func(r discover.Record) bool { return r.Prompt == strings.Repeat("ä", 200) }},
	} {
		text, err := parse(t, rollout(test.lines...), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil || !test.check(r) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if got, err := parse(t, rollout(other[:50], other[50:], askedLine), someID); err == nil {
		t.Errorf("no session_meta: %s", got)
	}
}

func memory(data []byte) *fsread.File { return fsread.NewMemoryFile("/x", data, time.Time{}) }
