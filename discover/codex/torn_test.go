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
	"agentctl/discover/native"
)

const someID = "01a1fa6a-5869-7310-8297-cbac269b6576"

// parse reads bytes as the rollout of the given thread.
func parse(t testing.TB, data []byte, id string) (string, error) {
	t.Helper()
	e := discover.Entry{Agent: "codex", ID: id, Path: "/x/sessions/2026/11/20/rollout.jsonl", Home: "/x"}
	var r storedThread
	r.reset(e)
	if err := r.readFile(native.NewMemoryFile(e.Path, data, time.Time{}), TailLimit, e, discover.ReadOptions{Full: true}); err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// A torn last line changes nothing before it: a rollout cut at any byte reads as the same one cut after its last
// whole line.
func TestTornAtEveryByte(t *testing.T) {
	for _, dir := range []string{"20-v0.42.0", "23-v0.130.0", "06-exec-sigkill", "07-exec-http401"} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "sessions/*/*/*/*"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %v, %v", dir, paths, err)
		}
		data, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		name, _ := parseRolloutName(filepath.Base(paths[0]))
		var last string
		for n := 1; n <= len(data); n++ {
			got, err := parse(t, data[:n], name.id)
			if err != nil {
				t.Fatalf("%s cut at %d: %v", dir, n, err)
			}
			if data[n-1] == '\n' || n == 1 {
				last = got
			} else if got != last {
				t.Fatalf("%s cut at %d: got %s, want %s", dir, n, got, last)
			}
		}
	}
}

// Whatever the bytes: no crash, no other thread's id, bounded text, and a torn last line changes nothing.
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

func rollout(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

const (
	metaLine     = `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"` + someID + `","cwd":"/w","cli_version":"0.104.0"}}`
	contextLine  = `{"timestamp":"2026-11-20T19:00:01Z","type":"turn_context","payload":{"cwd":"/w","model":"m"}}`
	startedLine  = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"task_started"}}`
	askedLine    = `{"timestamp":"2026-11-20T19:00:03Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}`
	answerLine   = `{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"agent_message","message":"done"}}`
	callLine     = `{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1"}}`
	outputLine   = `{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1"}}`
	silentLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}`
	completeLine = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"done"}}`
	timedLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"completed_at":1}}`
	failedLine   = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"task_complete","error":{"message":"no key"}}}`
	abortedLine  = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	errorLine    = `{"timestamp":"2026-11-20T19:00:07Z","type":"event_msg","payload":{"type":"error","message":"gone"}}`
	settingsLine = `{"timestamp":"2026-11-20T19:00:08Z","type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"model":"n","cwd":"/v"}}}`
	reviewLine   = `{"timestamp":"2026-11-20T19:00:02Z","type":"event_msg","payload":{"type":"entered_review_mode","user_facing_hint":"the diff"}}`
	compactLine  = `{"timestamp":"2026-11-20T19:00:06Z","type":"compacted","payload":{"message":""}}`
)

func TestTurn(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  discover.Turn
	}{
		"nothing asked":        {nil, discover.Turn{State: discover.TurnNone}},
		"begun":                {[]string{startedLine, contextLine, askedLine}, discover.Turn{State: discover.TurnOpen}},
		"in a tool":            {[]string{startedLine, contextLine, askedLine, callLine}, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"after a tool":         {[]string{startedLine, contextLine, askedLine, callLine, outputLine}, discover.Turn{State: discover.TurnOpen}},
		"complete":             {[]string{startedLine, contextLine, askedLine, answerLine, completeLine}, discover.Turn{State: discover.TurnDone}},
		"resumed, not asked":   {[]string{startedLine, contextLine, askedLine, completeLine, settingsLine}, discover.Turn{State: discover.TurnDone}},
		"failed":               {[]string{startedLine, contextLine, askedLine, failedLine}, discover.Turn{State: discover.TurnFailed, Error: "no key"}},
		"aborted":              {[]string{startedLine, contextLine, askedLine, abortedLine}, discover.Turn{State: discover.TurnInterrupted}},
		"error":                {[]string{startedLine, contextLine, askedLine, errorLine}, discover.Turn{State: discover.TurnFailed, Error: "gone"}},
		"end without a start":  {[]string{completeLine}, discover.Turn{State: discover.TurnDone}},
		"dangling, then again": {[]string{startedLine, askedLine, callLine, settingsLine, startedLine, contextLine, askedLine, completeLine}, discover.Turn{State: discover.TurnDone}},
		"silent failure":       {[]string{startedLine, askedLine, contextLine, silentLine}, discover.Turn{State: discover.TurnFailed, Error: noAnswerError}},
		"silent after a tool":  {[]string{startedLine, contextLine, askedLine, callLine, outputLine, silentLine}, discover.Turn{State: discover.TurnFailed, Error: noAnswerError}},
		"silent, answered":     {[]string{startedLine, contextLine, askedLine, answerLine, silentLine}, discover.Turn{State: discover.TurnDone}},
		"silent compaction":    {[]string{startedLine, compactLine, silentLine}, discover.Turn{State: discover.TurnDone}},
		"silent, but newer":    {[]string{startedLine, contextLine, askedLine, timedLine}, discover.Turn{State: discover.TurnDone}},
		"old, answered":        {[]string{askedLine, contextLine, answerLine}, discover.Turn{State: discover.TurnDone}},
		"old, asked":           {[]string{askedLine, contextLine}, discover.Turn{}},
		"old, in a tool":       {[]string{askedLine, contextLine, callLine}, discover.Turn{}},
		"review begun":         {[]string{reviewLine}, discover.Turn{State: discover.TurnOpen}},
		"torn end":             {[]string{startedLine, contextLine, askedLine, completeLine[:60] + startedLine}, discover.Turn{}},
		"damaged end":          {[]string{startedLine, contextLine, askedLine, strings.TrimSuffix(completeLine, "}")}, discover.Turn{}},
		"damaged, then ended":  {[]string{startedLine, contextLine, answerLine[:50], completeLine}, discover.Turn{State: discover.TurnDone}},
		"junk at the end":      {[]string{startedLine, contextLine, completeLine, "\x00\xff{}"}, discover.Turn{}},
		"other records":        {[]string{startedLine, contextLine, completeLine, "", "{}", "null", `{"type":"event_msg","payload":7}`}, discover.Turn{State: discover.TurnDone}},
	} {
		text, err := parse(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		var r discover.Record
		parsed := json.Unmarshal([]byte(text), &r)
		r.Turn.Began = time.Time{} // see TestBegan
		if err != nil || parsed != nil || r.Turn != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, r.Turn, err, test.want)
		}
	}
}

// An id that is none is neither printed nor followed.
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

func memory(data []byte) *native.File { return native.NewMemoryFile("/x", data, time.Time{}) }
