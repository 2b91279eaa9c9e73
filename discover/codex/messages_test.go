package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// messagesOf returns the messages of a record, newest first, and every warning.
func messagesOf(t testing.TB, r discover.Record) (list []discover.Message, warnings []error) {
	t.Helper()
	for m, err := range New().Messages(t.Context(), r) {
		if err != nil {
			warnings = append(warnings, splitWarnings(t, err)...)
			continue
		}
		list = append(list, m)
	}
	return list, warnings
}

// The messages of every captured session read as recorded.
func TestGoldenMessages(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := []byte{}
			for _, r := range readHome(t, dir, discover.ReadOptions{}) {
				list, warnings := messagesOf(t, r)
				for _, err := range warnings {
					t.Error(err)
				}
				for _, m := range list {
					line, err := json.Marshal(m)
					must.Do(t, err)
					got = append(append(got, line...), '\n')
				}
				got = append(got, '\n')
			}
			golden.Compare(t, filepath.Join("testdata", "golden", "messages", filepath.Base(dir)+".jsonl"), string(got))
		})
	}
}

// readMessages returns the messages in the bytes of a rollout, newest first, as JSON, and the number of warnings.
func readMessages(t testing.TB, data []byte, id string) (list []string, warnings int) {
	t.Helper()
	s := segment{path: "/x/sessions/2026/11/20/rollout-2026-11-20T19-00-00-" + id + ".jsonl"}
	for m, err := range discover.StreamMessages(agentName, func(out *discover.MessageStream) {
		m := messageReader{MessageStream: out, ctx: t.Context(), session: id, home: "/x"}
		m.readFile(storage.NewMemoryFile(s.path, data, time.Time{}), gap{}, s, true)
	}) {
		if err != nil {
			warnings++
			continue
		}
		text, err := json.Marshal(m)
		must.Do(t, err)
		list = append(list, string(text))
	}
	return list, warnings
}

func idsOf(t testing.TB, list []string) (ids []string) {
	t.Helper()
	for _, text := range list {
		var m discover.Message
		must.Do(t, json.Unmarshal([]byte(text), &m))
		ids = append(ids, m.ID)
	}
	return ids
}

// Any bytes give no panic and messages newest first, and a torn last line changes nothing.
func FuzzMessages(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/sessions/*/*/*/*.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 8<<10 { // small ones mutate faster
			f.Add(data)
		}
	}
	f.Add(rollout(metaLine, startedLine, contextLine, askedLine, callLine, outputLine, answerLine, silentLine))
	f.Add(rollout(metaLine, reviewLine, answerLine, failedLine, compactLine, abortedLine))
	f.Add([]byte{0, 255, '\n'})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := readMessages(t, data, someID)
		if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 && !storage.Object(data[end:]).Complete() {
			if whole, _ := readMessages(t, data[:end], someID); !slices.Equal(got, whole) {
				t.Fatalf("torn:  %s\nwhole: %s", got, whole)
			}
		}
		last := int64(len(data))
		for _, id := range idsOf(t, got) {
			if at, err := strconv.ParseInt(id, 10, 64); err == nil && strconv.FormatInt(at, 10) == id && bytes.HasPrefix(data[min(max(at, 0), int64(len(data))):], []byte("{")) {
				if at > last {
					t.Fatalf("record at %d after that at %d", at, last)
				}
				last = at
			}
		}
	})
}

// Each damaged record gives one warning, and all others are read: lines run into each other, cut off ones, junk, unknown records.
func TestMessagesAroundDamage(t *testing.T) {
	whole, _ := readMessages(t, rollout(metaLine, startedLine, contextLine, askedLine, answerLine, completeLine), someID)
	if len(whole) != 2 {
		t.Fatalf("messages %v", whole)
	}
	for name, test := range map[string]struct {
		line     string
		warnings int
	}{
		"cut":             {answerLine[:len(answerLine)-5], 1},
		"run together":    {askedLine[:60] + contextLine, 1},
		"junk":            {"\x00\xff{}", 1},
		"unknown record":  {`{"timestamp":"2026-11-20T19:00:04Z","type":"news","payload":{"type":"x"}}`, 0},
		"unknown event":   {`{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"x","call_id":"c9","status":"completed"}}`, 0},
		"unknown item":    {`{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"X"}}}`, 0},
		"another thread":  {`{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":{"type":"item_completed","thread_id":"` + threadA + `","item":{"type":"AgentMessage","content":[{"text":"no"}]}}}`, 0},
		"the agent's own": {`{"timestamp":"2026-11-20T19:00:04Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}`, 0},
		"a result alone":  {outputLine, 0},
		"no payload":      {`{"timestamp":"2026-11-20T19:00:04Z","type":"event_msg","payload":null}`, 0},
		"blank":           {"", 0},
	} {
		got, warnings := readMessages(t, rollout(metaLine, startedLine, contextLine, askedLine, answerLine, test.line, completeLine), someID)
		if !slices.Equal(got, whole) || warnings != test.warnings {
			t.Errorf("%s: %v, %d warnings", name, got, warnings)
		}
	}
}

// callLines returns the lines of a tool call and its result.
func callLines(id, result string) []string {
	text, _ := json.Marshal(result)
	return []string{
		`{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"` + id + `"}}`,
		`{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"` + id + `","output":` + string(text) + `}}`,
	}
}

// The state of a call comes from the text of its result in the words of the agent's tools, or from another record.
func TestCallStates(t *testing.T) {
	done := `{"timestamp":"2026-11-20T19:00:06Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"%s","exit_code":%s}}}`
	for name, test := range map[string]struct {
		lines  []string
		state  discover.ToolState
		output string
	}{
		"no result":               {callLines("c1", "")[:1], discover.ToolOpen, ""},
		"a text":                  {callLines("c1", "all well"), discover.ToolDone, "all well"},
		"exit code 0":             {callLines("c1", "Chunk ID: 1\nProcess exited with code 0\nOutput:\na\nb\n"), discover.ToolDone, "a\nb\n"},
		"another":                 {callLines("c1", "Chunk ID: 1\nProcess exited with code 2\nOriginal token count: 1\nOutput:\nno\n"), discover.ToolFailed, "Process exited with code 2\nno\n"},
		"only the output says so": {callLines("c1", "Process exited with code 0\nOutput:\nExit code: 7\n"), discover.ToolDone, "Exit code: 7\n"},
		"JSON":                    {callLines("c1", `{"output":"a\n","metadata":{"exit_code":0}}`), discover.ToolDone, "a\n"},
		"JSON, failed":            {callLines("c1", `{"output":"a\n","metadata":{"exit_code":1}}`), discover.ToolFailed, "a\n"},
		"still running":           {callLines("c1", "Process running with session ID 5\nOutput:\n"), discover.ToolDone, "Process running with session ID 5\nOutput:\n"},
		"aborted":                 {callLines("c1", "Wall time: 2.7 seconds\naborted by user"), discover.ToolFailed, "aborted by user"},
		"refused":                 {callLines("c1", "exec command rejected by user"), discover.ToolRefused, "exec command rejected by user"},
		"unknown":                 {callLines("c1", "unsupported call: shell"), discover.ToolFailed, "unsupported call: shell"},
		"done, it is said":        {append(callLines("c1", "x")[:1], fmt.Sprintf(done, "completed", "0")), discover.ToolDone, ""},
		"failed, it is said":      {append(callLines("c1", "x"), fmt.Sprintf(done, "failed", "3")), discover.ToolFailed, "x"},
		"refused, it is said":     {append(callLines("c1", "x"), fmt.Sprintf(done, "declined", "null")), discover.ToolRefused, "x"},
		"it went on":              {append(callLines("c1", "running"), fmt.Sprintf(done, "inProgress", "null")), discover.ToolDone, "running"},
		"another's result":        {append(callLines("c1", "x")[:1], callLines("c2", "y")[1]), discover.ToolOpen, ""},
	} {
		list, _ := readMessages(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		var m discover.Message
		if len(list) != 1 || json.Unmarshal([]byte(list[0]), &m) != nil || m.Tool.State != test.state || m.Tool.Output != test.output || m.Tool.Brief != "make" {
			t.Errorf("%s: %s", name, list)
		}
	}
}

// The tokens of an answer are in its last part, once, and in no other answer.
func TestTokensOfAnswers(t *testing.T) {
	count := func(total, last int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:06Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d}}}}`, total, last)
	}
	c1, c2 := callLines("c1", "x"), callLines("c2", "y")
	for name, test := range map[string]struct {
		lines []string
		want  map[string]int64 // by the text or the call
	}{
		"one answer":             {[]string{startedLine, askedLine, answerLine, count(5, 5)}, map[string]int64{"done": 5}},
		"said twice":             {[]string{startedLine, askedLine, answerLine, count(5, 5), count(5, 5)}, map[string]int64{"done": 5}},
		"with calls":             {[]string{startedLine, askedLine, answerLine, c1[0], c2[0], count(5, 5), c1[1], c2[1], count(5, 5), answerLine, count(12, 7)}, map[string]int64{"c2": 5, "done": 7}},
		"repeated in a new turn": {[]string{startedLine, askedLine, answerLine, count(5, 5), startedLine, askedLine, count(5, 5), abortedLine}, map[string]int64{"done": 5}},
		"after the results only": {[]string{startedLine, askedLine, answerLine, c1[0], c2[0], c1[1], c2[1], count(5, 5), answerLine, count(12, 7)}, map[string]int64{"c2": 5, "done": 7}},
		"before the calls (0.42)": {[]string{
			askedLine, answerLine, count(5, 5), c1[0], c1[1], count(12, 7), c2[0], c2[1], answerLine, count(21, 9), saidLine,
		}, map[string]int64{"done": 14}},
		"and repeated (0.42)": {[]string{askedLine, answerLine, count(5, 5), saidLine, c1[0], c1[1], count(5, 5), answerLine, count(12, 7), saidLine}, map[string]int64{"c1": 5, "done": 7}},
		"a compaction's":      {[]string{startedLine, askedLine, answerLine, startedLine, count(9, 4), compactLine, count(9, 0)}, map[string]int64{}},
	} {
		got := map[string]int64{}
		list, _ := readMessages(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		for _, text := range list {
			var m discover.Message
			must.Do(t, json.Unmarshal([]byte(text), &m))
			if m.Tokens != nil {
				key := m.Text
				if m.Tool != nil {
					key = m.Tool.ID
				}
				got[key] += m.Tokens.In
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// A message has the model of its turn. Far from the turn's beginning it is unknown, except in the newest turn.
func TestModelOfEachTurn(t *testing.T) {
	turn := func(model string) []string {
		return []string{strings.Replace(contextLine, `"m"`, `"`+model+`"`, 1), askedLine, answerLine}
	}
	filler := slices.Repeat([]string{settingsLine}, 512<<10/len(settingsLine))
	lines := slices.Concat([]string{metaLine}, turn("a"), turn("b")[:2], filler, turn("b")[2:], turn("c")[:2], filler, turn("c")[2:])
	w := newTestHome(t)
	path := w.file("sessions/2026/11/20/"+nameA, string(rollout(lines...)))
	list, _ := messagesOf(t, discover.Record{ID: threadA, Path: path, Home: w.home, Model: "c"})
	var got []string
	for _, m := range list {
		if m.Role == discover.RoleAssistant {
			got = append(got, m.Model)
		}
	}
	if want := []string{"c", "", "a"}; !slices.Equal(got, want) {
		t.Errorf("models %q, want %q", got, want)
	}
}

// A record of 64 MB is left out with a warning. If it is a call's result, the call has ended.
func TestMessagesAroundLongRecords(t *testing.T) {
	w := newTestHome(t)
	c := callLines("c1", "x")
	path := w.file("sessions/2026/11/20/"+nameA, string(rollout(metaLine, startedLine, contextLine, askedLine, c[0])))
	head, tail, _ := strings.Cut(c[1], `"x"`)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must.Do(t, err)
	defer f.Close()
	for _, text := range []string{head + `"`, strings.Repeat("x", 64<<20), `"` + tail + "\n" + answerLine + "\n"} {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	list, warnings := messagesOf(t, discover.Record{ID: threadA, Path: path, Home: w.home})
	if len(list) != 3 || list[0].Text != "done" || list[1].Tool == nil || list[1].Tool.State != discover.ToolDone || list[2].Text != "do it" || len(warnings) != 1 {
		t.Errorf("messages %+v, warnings %v", list, warnings)
	}
}

// A file that shrinks, vanishes or is replaced while it is read causes no panic, nor does one that does not exist.
func TestMessagesOfAChangingFile(t *testing.T) {
	lines := []string{metaLine}
	for i := range 20_000 {
		lines = append(lines, strings.Replace(askedLine, "do it", "number "+strconv.Itoa(i), 1))
	}
	for name, change := range map[string]func(path string) error{
		"nothing":  func(string) error { return nil },
		"shrinks":  func(path string) error { return os.Truncate(path, 1000) },
		"emptied":  func(path string) error { return os.Truncate(path, 0) },
		"vanishes": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+"~", []byte("{}"), 0o600), os.Rename(path+"~", path))
		},
		"overwrite": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte{0}, 3<<20), 0o600) },
	} {
		w := newTestHome(t)
		path := w.file("sessions/2026/11/20/"+nameA, string(rollout(lines...)))
		n := 0
		for m, err := range New().Messages(t.Context(), discover.Record{ID: threadA, Path: path, Home: w.home}) {
			if n == 0 {
				must.Do(t, change(path))
			}
			if err == nil && m.Text != "number "+strconv.Itoa(19_999-n) {
				t.Fatalf("%s: message %d is %q", name, n, m.Text)
			}
			n++
		}
		if n == 0 || n < 20_000 && (name == "nothing" || name == "vanishes" || name == "replaced") {
			t.Errorf("%s: %d messages", name, n)
		}
	}
	if list, warnings := messagesOf(t, discover.Record{ID: threadA, Path: "/nowhere/" + nameA, Home: "/nowhere"}); len(list)+len(warnings) > 0 {
		t.Errorf("of no file: %v, %v", list, warnings)
	}
}

// Messages from before an edited prompt keep their IDs. All IDs of a thread differ, whatever rollout they are in.
func TestIDsOfEditedPrompts(t *testing.T) {
	const id = "01a1ffee-adaf-77a0-8e39-4d756d92edfc"
	paths := rolloutPaths(t, "testdata/30-edited-prompt", id, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	slices.Sort(paths)
	texts := map[string]string{}
	for _, path := range paths {
		list, _ := messagesOf(t, discover.Record{ID: id, Path: path, Home: "testdata/30-edited-prompt"})
		seen := map[string]bool{}
		for _, m := range list {
			if text, ok := texts[m.ID]; ok && text != m.Text || seen[m.ID] {
				t.Errorf("%s: %s is %q, was %q", path, m.ID, m.Text, text)
			}
			texts[m.ID], seen[m.ID] = m.Text, true
		}
		if first := list[len(list)-1]; first.Text != "please MOCK:escalate touch /root/zzt9" || texts["18579"] == "" {
			t.Errorf("%s begins with %+v", path, first)
		}
	}
	if len(paths) != 4 {
		t.Errorf("rollouts %v", paths)
	}
}

// The fork of a deleted thread has its own messages and a warning that older ones are missing.
func TestForkOfADeletedThread(t *testing.T) {
	w := newTestHome(t)
	paths, _ := filepath.Glob("testdata/28-fork-after-a-turn/sessions/*/*/*/*db8a*")
	data, err := os.ReadFile(paths[0])
	must.Do(t, err)
	w.file("sessions/2026/11/21/"+filepath.Base(paths[0]), string(data))
	r := readHome(t, w.home, discover.ReadOptions{})[0]
	if list, warnings := messagesOf(t, r); len(list) != 2 || len(warnings) != 1 {
		t.Errorf("messages %v, warnings %v", list, warnings)
	}
}

// A call of any kind, also of one that is not known, is shown with its name, its input and its output.
func TestKindsOfCalls(t *testing.T) {
	item := func(payload string) string {
		return `{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{` + payload + `}}`
	}
	for name, test := range map[string]struct {
		lines []string
		want  discover.ToolCall
	}{
		"an image": {
			[]string{item(`"type":"image_generation_call","id":"ig","status":"completed","revised_prompt":"a cat","result":"iVBO"`)},
			discover.ToolCall{ID: "ig", Name: "image_generation", Input: []byte(`{"revised_prompt":"a cat"}`), Brief: "a cat", Output: "[image]", State: discover.ToolDone},
		},
		"an image that failed": {
			[]string{item(`"type":"image_generation_call","id":"ig","status":"failed","revised_prompt":null,"result":""`)},
			discover.ToolCall{ID: "ig", Name: "image_generation", Input: []byte("null"), State: discover.ToolFailed},
		},
		"a search for tools": {
			[]string{item(`"type":"tool_search_call","call_id":"c1","status":"completed","arguments":{"query":"calendar"}`), item(`"type":"tool_search_output","call_id":"c1","status":"completed","tools":[{"name":"create"}]`)},
			discover.ToolCall{ID: "c1", Name: "tool_search", Input: []byte(`{"query":"calendar"}`), Brief: "calendar", Output: `{"tools":[{"name":"create"}]}`, State: discover.ToolDone},
		},
		"a search": {
			[]string{item(`"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","queries":["a b","c"]}`)},
			discover.ToolCall{ID: "ws", Name: "web_search", Input: []byte(`{"type":"search","queries":["a b","c"]}`), Brief: "a b c", State: discover.ToolDone},
		},
		"an unknown kind": {
			[]string{item(`"type":"advisor_call","call_id":"a1","status":"in_progress","advice":"on \"this\"","depth":2`)},
			discover.ToolCall{ID: "a1", Name: "advisor", Input: []byte(`{"advice":"on \"this\"","depth":2}`), State: discover.ToolOpen},
		},
		"with its result": {
			[]string{item(`"type":"mcp_call","id":"m1","name":"find","server_label":"docs","arguments":"{\"query\":\"x\"}","output":"found"`)},
			discover.ToolCall{ID: "m1", Name: "find", Input: []byte(`{"query":"x"}`), Brief: "x", Output: "found", State: discover.ToolDone},
		},
		"a result with empty parts": {
			[]string{item(`"type":"custom_tool_call","call_id":"c1","name":"look","input":"at\nit"`), item(`"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":""},{},{"type":"input_image","image_url":"data:"}]`)},
			discover.ToolCall{ID: "c1", Name: "look", Input: []byte(`"at\nit"`), Brief: "at", Output: "[image]", State: discover.ToolDone},
		},
	} {
		list, _ := readMessages(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		var m discover.Message
		if len(list) != 1 || json.Unmarshal([]byte(list[0]), &m) != nil || m.Tool == nil || fmt.Sprintf("%+v", *m.Tool) != fmt.Sprintf("%+v", test.want) {
			t.Errorf("%s: %s", name, list)
		}
	}
}

// Of several calls with one ID, each has its own output and state.
func TestCallsOfOneID(t *testing.T) {
	a, b, other := callLines("c1", "first"), callLines("c1", "second"), callLines("c2", "other")
	end := func(status string) string {
		return `{"timestamp":"2026-11-20T19:00:06Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"` + status + `"}}}`
	}
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"one after the other": {slices.Concat(a, b), "first done, second done"},
		"together":            {[]string{a[0], b[0], other[0], a[1], other[1], b[1]}, "first done, second done, other done"},
		"another between":     {[]string{a[0], other[0], b[0], end("failed"), a[1], other[1], end("completed"), b[1]}, "first error, other done, second done"},
		"with their ends":     {[]string{a[0], b[0], end("failed"), a[1], end("completed"), b[1]}, "first error, second done"},
		"the second one open": {[]string{a[0], a[1], b[0]}, "first done,  open"},
		"an end said twice":   {[]string{a[0], a[1], b[0], end("failed"), b[1], end("failed")}, "first done, second error"},
	} {
		list, _ := readMessages(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		var got []string
		for _, text := range slices.Backward(list) {
			var m discover.Message
			must.Do(t, json.Unmarshal([]byte(text), &m))
			got = append(got, m.Tool.Output+" "+string(m.Tool.State))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %s", name, got, test.want)
		}
	}
}

// The prompt is what the user said first: the objective of a goal, the words after an editor's context, words that begin with a tag, an image.
func TestFirstPrompt(t *testing.T) {
	event := func(payload string) string {
		return `{"timestamp":"2026-11-20T19:00:03Z","type":"event_msg","payload":{` + payload + `}}`
	}
	goal := func(thread, objective, turn string, updated int) string {
		return event(fmt.Sprintf(`"type":"thread_goal_updated","turnId":%s,"goal":{"threadId":"%s","objective":"%s","createdAt":5,"updatedAt":%d}`, turn, thread, objective, updated))
	}
	item := func(content string) string {
		return event(`"type":"item_completed","thread_id":"` + someID + `","item":{"type":"UserMessage","id":"u","content":[` + content + `]}`)
	}
	for name, test := range map[string]struct {
		lines    []string
		prompt   string
		messages int
	}{
		"a goal":              {[]string{goal(someID, "port it", "null", 5), answerLine, goal(someID, "port it", "null", 9)}, "port it", 2},
		"a goal said twice":   {[]string{goal(someID, "port it", "null", 5), goal(someID, "port it", "null", 5), askedLine}, "port it", 2},
		"a goal after it":     {[]string{askedLine, goal(someID, "port it", "null", 5)}, "do it", 2},
		"the model's goal":    {[]string{goal(someID, "port it", `"t"`, 5), askedLine}, "do it", 1},
		"another's goal":      {[]string{goal(threadB, "port it", "null", 5), askedLine}, "do it", 1},
		"an image":            {[]string{event(`"type":"user_message","message":"","images":["data:x"],"local_images":[]`), askedLine}, "[image]", 2},
		"a local image":       {[]string{event(`"type":"user_message","message":"\n","images":null,"local_images":["/a.png"]`)}, "[image]", 1},
		"an image as an item": {[]string{item(`{"type":"local_image","path":"/a.png"},{"type":"text","text":" "}`)}, "[image]", 1},
		"with words":          {[]string{item(`{"type":"image","image_url":"x"},{"type":"text","text":"like this"}`)}, "like this", 1},
		"in an editor":        {[]string{event(`"type":"user_message","message":"# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nfix it\n"`)}, "fix it", 1},
		"… an image":          {[]string{event(`"type":"user_message","message":"# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\n","images":["data:x"]`)}, "[image]", 1},
		"about such words":    {[]string{event(`"type":"user_message","message":"what is\n## My request for Codex:\nhere?"`)}, "what is\n## My request for Codex:\nhere?", 1},
		"a tag":               {[]string{event(`"type":"user_message","message":"<div> is open"`)}, "<div> is open", 1},
	} {
		text, err := parse(t, rollout(append([]string{metaLine, startedLine}, test.lines...)...), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil || r.Prompt != test.prompt {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		if list, _ := readMessages(t, rollout(append([]string{metaLine}, test.lines...)...), someID); len(list) != test.messages {
			t.Errorf("%s: %s", name, list)
		}
	}
}
