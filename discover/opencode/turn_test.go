package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/must"
)

// memoryRows is a [rowReader] of messages, oldest first.
type memoryRows []memoryRow

// memoryRow is a [storedRow] with its parts.
type memoryRow struct {
	id    string
	json  []byte
	parts memoryRows
}

// newMemoryMessage makes a message. The parts of msg_1 are prt_1_0, prt_1_1 and so on.
func newMemoryMessage(id, json string, parts ...string) memoryRow {
	r := memoryRow{id: id, json: []byte(json)}
	for i, p := range parts {
		r.parts = append(r.parts, memoryRow{id: fmt.Sprintf("prt_%s_%d", strings.TrimPrefix(id, "msg_"), i), json: []byte(p)})
	}
	return r
}

// row returns the row as the reader sees it. A part whose end is missing has no JSON.
func (r memoryRow) row() storedRow {
	return storedRow{ID: r.id, Head: r.json, Read: func() ([]byte, error) {
		if strings.HasPrefix(r.id, "prt_") && !storage.Object(r.json).Complete() {
			return nil, nil
		}
		return r.json, nil
	}}
}

func (s memoryRows) oldest() iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		for _, r := range s {
			if !yield(r.row()) {
				return
			}
		}
	}
}

func (s memoryRows) before(id string) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		for _, r := range slices.Backward(s) {
			if (id == "" || r.id < id) && !yield(r.row()) {
				return
			}
		}
	}
}

func (s memoryRows) partsOf(message string) memoryRows {
	for _, r := range s {
		if r.id == message {
			return r.parts
		}
	}
	return nil
}

func (s memoryRows) Oldest() iter.Seq[storedRow]              { return s.oldest() }
func (s memoryRows) Newest(before cursor) iter.Seq[storedRow] { return s.before(before.Message) }
func (s memoryRows) Parts(message string) iter.Seq[storedRow] { return s.partsOf(message).oldest() }
func (s memoryRows) PartsBefore(c cursor) iter.Seq[storedRow] {
	return s.partsOf(c.Message).before(c.Part)
}

func (s memoryRows) Failures() int { return 0 }

func TestTurn(t *testing.T) {
	for name, c := range map[string]struct {
		message string // "" for none
		parts   []string
		want    discover.Turn
	}{
		"nothing asked":   {"", nil, discover.Turn{State: discover.TurnNone}},
		"asked":           {`{"role":"user"}`, nil, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"answering":       {`{"role":"assistant","time":{"created":1}}`, []string{`{"type":"step-start"}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"tool":            {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"running"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "tool: bash", OpenCall: &discover.WaitingOn{Tool: "bash"}}},
		"tool ended":      {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"completed"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"question":        {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"question","state":{"status":"running","input":{"questions":[{"question":"Which?"},{"question":"How?"}]}}}`}, discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: &discover.WaitingOn{Tool: "question", Brief: "Which?", Questions: []string{"Which?", "How?"}}}},
		"between steps":   {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"completed"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"rejected":        {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"rejected, 1.1":   {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"Error: The user rejected permission to use this specific tool call."}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"told why not":    {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"The user rejected permission to use this specific tool call with the following feedback: no"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"dismissed":       {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"error":"The user dismissed this question"}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"answered":        {`{"role":"assistant","finish":"stop","time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnDone}},
		"too long":        {`{"role":"assistant","finish":"length","time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnDone}},
		"aborted":         {`{"role":"assistant","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}},"time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnInterrupted}},
		"failed":          {`{"role":"assistant","error":{"name":"APIError","data":{"message":"no"}},"time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnFailed, Error: "no"}},
		"failed silently": {`{"role":"assistant","error":{"name":"UnknownError"}}`, nil, discover.Turn{State: discover.TurnFailed, Error: "UnknownError"}},
		"unknown":         {`{"role":"system"}`, nil, discover.Turn{}},
		"torn":            {`{"role":`, nil, discover.Turn{}},
	} {
		s := memoryRows{}
		if c.message != "" {
			s = append(s, newMemoryMessage("msg_1", c.message, c.parts...))
		}
		c.want.OpenCall = cmp.Or(c.want.OpenCall, c.want.WaitingOn)
		tail := readTail(s)
		if got := tail.state(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// A message that the user sends during an answer is left to the next prompt if that answer ends the turn.
func TestMessageSentDuringTheLastAnswer(t *testing.T) {
	const aborted = `{"role":"assistant","time":{"created":2,"completed":5},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`
	const called = `{"role":"assistant","finish":"tool-calls","time":{"created":2,"completed":5}}`
	const dismissed = `{"type":"tool","tool":"question","state":{"status":"error","error":"The user dismissed this question"}}`
	for name, c := range map[string]struct {
		answer, part string
		sent         int // when the newest message was sent
		want         discover.Turn
	}{
		"aborted":   {aborted, "", 4, discover.Turn{State: discover.TurnInterrupted}},
		"dismissed": {called, dismissed, 4, discover.Turn{State: discover.TurnInterrupted}},
		"failed": {
			`{"role":"assistant","time":{"created":2,"completed":5},"error":{"name":"APIError","data":{"message":"no"}}}`, "", 4,
			discover.Turn{State: discover.TurnFailed, Error: "no"},
		},
		"prompted after an abort":   {aborted, "", 6, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"prompted after a refusal":  {called, dismissed, 6, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"during a call that worked": {called, `{"type":"tool","tool":"bash","state":{"status":"completed"}}`, 4, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"during the last words":     {`{"role":"assistant","finish":"stop","time":{"created":2,"completed":5}}`, "", 4, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
	} {
		user := func(at int) string { return fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at) }
		tail := readTail(memoryRows{
			newMemoryMessage("msg_1", user(1)), newMemoryMessage("msg_2", c.answer, c.part), newMemoryMessage("msg_3", user(3)), newMemoryMessage("msg_4", user(c.sent)),
		})
		if got := tail.state(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// The messages that the user sends during an answer do not hide that it is open.
func TestOpenAnswer(t *testing.T) {
	const asked, note = `{"role":"user","time":{"created":1}}`, `{"role":"user","time":{"created":3}}`
	const asks = `{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"x"},"time":{"start":2}}}`
	for name, c := range map[string]struct {
		answer string
		notes  int
		tools  int // of the open answer; -1 for no open answer
	}{
		"no note":    {`{"role":"assistant","time":{"created":2}}`, 0, -1},
		"one":        {`{"role":"assistant","time":{"created":2}}`, 1, 1},
		"several":    {`{"role":"assistant","time":{"created":2}}`, 3, 1},
		"too many":   {`{"role":"assistant","time":{"created":2}}`, maxDelayed + 1, -1},
		"has ended":  {`{"role":"assistant","time":{"created":2,"completed":3}}`, 1, -1},
		"has failed": {`{"role":"assistant","time":{"created":2},"error":{"name":"APIError"}}`, 1, -1},
	} {
		s := memoryRows{newMemoryMessage("msg_000", asked), newMemoryMessage("msg_001", c.answer, asks)}
		for n := range c.notes {
			s = append(s, newMemoryMessage(fmt.Sprintf("msg_1%03d", n), note))
		}
		tail := readTail(s)
		got := -1
		if tail.OpenAnswer != nil {
			got = len(tail.OpenAnswer.RunningTools())
		}
		if turn := tail.Turn(); got != c.tools || c.notes > 0 && turn.State != discover.TurnOpen {
			t.Errorf("%s: the open answer runs %d tools, want %d; turn %+v", name, got, c.tools, turn)
		}
	}
}

// The message has the part prt_5_0. Its answer, or that of a newer message, shows that the model has got it. A step that has not begun yet, or
// that follows, will read it.
func TestUnread(t *testing.T) {
	const text, done = `{"type":"text","text":"x"}`, `,"time":{"created":1,"completed":2}`
	user := func(id string) memoryRow { return newMemoryMessage(id, `{"role":"user"}`, text) }
	answer := func(id, parent, more string) memoryRow {
		return newMemoryMessage(id, `{"role":"assistant","parentID":"`+parent+`"`+more+`}`)
	}
	const stop, calls, open = `,"finish":"stop"` + done, `,"finish":"tool-calls"` + done, `,"time":{"created":1}`
	for name, c := range map[string]struct {
		rows   memoryRows
		idle   bool
		unread bool
	}{
		"the first":                    {memoryRows{user("msg_5")}, false, true},
		"the first, answered":          {memoryRows{user("msg_5"), answer("msg_6", "msg_5", open)}, false, false},
		"answered":                     {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5"), answer("msg_6", "msg_5", stop)}, true, false},
		"a newer one is answered":      {memoryRows{user("msg_5"), user("msg_6"), answer("msg_7", "msg_6", open)}, false, false},
		"the turn has ended":           {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5")}, false, true},
		"after the last step":          {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop), user("msg_5"), user("msg_6")}, true, true},
		"during a step":                {memoryRows{user("msg_1"), answer("msg_2", "msg_1", open), user("msg_5")}, false, false},
		"an answer that a kill left":   {memoryRows{user("msg_1"), answer("msg_2", "msg_1", open), user("msg_5")}, true, true},
		"between steps":                {memoryRows{user("msg_1"), answer("msg_2", "msg_1", calls), user("msg_5")}, false, false},
		"before a step that missed it": {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", open)}, false, true},
		"missed, and a step follows":   {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", calls)}, false, false},
		"missed by the last step":      {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", stop)}, true, true},
		"missed, and answered later":   {memoryRows{user("msg_1"), user("msg_5"), answer("msg_6", "msg_1", stop), answer("msg_7", "msg_5", open)}, false, false},
		"the turn has failed":          {memoryRows{user("msg_1"), answer("msg_2", "msg_1", `,"error":{"name":"APIError"}`), user("msg_5")}, false, true},
		"older than the answered one":  {memoryRows{user("msg_5"), user("msg_6"), answer("msg_7", "msg_6", stop)}, true, false},
		"not stored":                   {memoryRows{user("msg_1"), answer("msg_2", "msg_1", stop)}, false, false},
	} {
		if got := isUnread(c.rows, "prt_5_0", !c.idle); got != c.unread {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSilentTooLong(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for call, want := range map[string]bool{
		`{"type":"tool","tool":"bash","state":{"status":"running","time":{"start":900000}}}`:               true,
		`{"type":"tool","tool":"bash","state":{"status":"running","metadata":{},"time":{"start":900000}}}`: false,
		`{"type":"tool","tool":"bash","state":{"status":"running","time":{"start":999500}}}`:               false,
		`{"type":"tool","tool":"bash","state":{"status":"pending","time":{"start":900000}}}`:               false,
		`{"type":"tool","tool":"bash","state":{"status":"running"}}`:                                       false,
		`{"type":"tool","tool":"webfetch","state":{"status":"running","time":{"start":900000}}}`:           false,
		`{"type":"tool","tool":"webfetch","state":{"status":"running","time":{"start":800000}}}`:           true,
		`{"type":"tool","tool":"myserver_search","state":{"status":"running","time":{"start":1}}}`:         false,
	} {
		if got := parsePart([]byte(call)).silentTooLong(now); got != want {
			t.Errorf("%s: %v", call, got)
		}
	}
}

// What the user is asked about contains the command, the files with the number of their changed lines, or the questions.
func TestWaitingOn(t *testing.T) {
	for call, want := range map[string]discover.WaitingOn{
		`"tool":"bash","state":{"status":"running","input":{"command":"make","description":"d"}}`:                                     {Tool: "bash", Brief: "make"},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"a\nb","newString":"a"}}`:                   {Tool: "edit", Brief: "/w/a", Path: "/w/a", Diff: &discover.Diff{Removed: new(1)}},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"","newString":"a"}}`:                       {Tool: "edit", Brief: "/w/a", Path: "/w/a"},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"a","newString":"b","replaceAll":true}}`:    {Tool: "edit", Brief: "/w/a", Path: "/w/a"},
		`"tool":"write","state":{"status":"running","input":{"filePath":"/w/a","content":"a\nb\n"}}`:                                  {Tool: "write", Brief: "/w/a", Path: "/w/a", Diff: &discover.Diff{Added: 2}},
		`"tool":"apply_patch","state":{"status":"running","input":{"patchText":"*** Begin Patch\n*** Update File: a\n-x\n+y\n+z\n"}}`: {Tool: "apply_patch", Brief: "a", Path: "a", Diff: &discover.Diff{Added: 2, Removed: new(1)}},
		`"tool":"apply_patch","state":{"status":"running","input":{"patchText":"*** Begin Patch\n*** Add File: a\n+y\n*** Delete File: b\n"}}`: {
			Tool: "apply_patch", Brief: "a, b", Diff: &discover.Diff{Added: 1},
		},
		`"tool":"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}}`: {Tool: "question", Brief: "Which?", Questions: []string{"Which?"}},
	} {
		if got := parsePart([]byte(`{"type":"tool",` + call + `}`)).WaitingOn(); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v", call, got)
		}
	}
}

// Bytes after a whole message or part, such as the beginning of another one, change nothing.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","time":{"created":1,"completed":2},"finish":"stop","error":{"name":"x","data":{"message":"y"}}}`))
	f.Add([]byte(`{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"x"},"time":{"start":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, p := parseMessage(data), parsePart(data)
		if !storage.Object(data).Complete() {
			return
		}
		more := append(bytes.Clone(data), `{"role":"user","finish":"torn","tool":"torn","type":"torn","state":{"status":"torn`...)
		if parseMessage(more) != m || parsePart(more) != p {
			t.Errorf("%q: followed by another %+v %+v, alone %+v %+v", data, parseMessage(more), parsePart(more), m, p)
		}
	})
}

// The prompt is the user's text, without the file that a launch puts before it, however long the file is.
func TestParsePartContextFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	must.Do(t, err)
	if p := parsePart([]byte(`{"type":"text","text":` + string(text) + `}`)); p.text != "make it so" {
		t.Errorf("%.80q", p.text)
	}
}

func TestPrompt(t *testing.T) {
	for stored, want := range map[string]string{
		`hello`: "hello", `"hello world"`: "hello world", "\"hello world\"\n": "hello world", "hi\n": "hi",
		`"say \"hi\" to it"`: `say "hi" to it`, `fix "the bug"`: `fix "the bug"`, `"a b" "c d"`: `"a b" "c d"`,
		`"`: "", `""`: "", "\"a b\"\nfrom stdin": "\"a b\"\nfrom stdin",
	} {
		if got := promptText(stored); got != want {
			t.Errorf("%q: got %q, want %q", stored, got, want)
		}
	}
	if got := promptText(`"` + strings.Repeat("ä ", 250)); len([]rune(got)) != discover.PromptLimit {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

// The title that the agent gives to each new session is no title.
func TestParseTitle(t *testing.T) {
	for stored, want := range map[string]string{
		"New session - 2026-11-20T19:20:45.913Z":           "",
		"Child session - 2026-11-20T19:20:45.913Z":         "",
		"New session - 2026-11-20T19:20:45.913Z (fork #1)": "",
		"New session - of mine":                            "New session - of mine",
		"Fix the parser":                                   "Fix the parser",
		" \n":                                              "",
	} {
		if got := parseTitle(stored); got != want {
			t.Errorf("%q is %q, want %q", stored, got, want)
		}
	}
}

// parsed is all that this package reads of a session.
type parsed struct {
	prompt   string
	turn     discover.Turn
	updated  time.Time
	running  []part
	quotas   []discover.Quota
	usage    usage
	context  int64
	messages []transcriptItem
}

// parse reads all. It stops and continues the reading of messages after each batch of the given size, which it reads twice: a writer may disturb
// the first reading.
func parse(s rowReader, batch int) (p parsed) {
	tail := readTail(s)
	p.prompt, _ = readHead(s, 0)
	p.turn, p.updated, p.running, p.quotas = tail.Turn(), tail.Updated(), tail.RunningTools(), tail.Quotas()
	p.usage, p.context = readUsage(s, 0), readContext(s)
	for b := new(messageBatch); !b.done; {
		b.next(s, batch)
		b = b.next(s, batch)
		p.messages = append(p.messages, b.items...)
	}
	return p
}

// What a batch takes over from the one before does not grow with the session: each batch copies it.
func TestBatchesTakeOverLittle(t *testing.T) {
	var s memoryRows
	for i := range 50 {
		user := fmt.Sprintf("msg_%02d", 2*i)
		s = append(s, newMemoryMessage(user, `{"role":"user"}`, `{"type":"text","text":"do it"}`),
			newMemoryMessage(fmt.Sprintf("msg_%02d", 2*i+1), `{"role":"assistant","parentID":"`+user+`"}`, `{"type":"text","text":"done"}`))
	}
	read := 0
	for b := new(messageBatch); !b.done; {
		b = b.next(s, 10)
		if read += len(b.items); len(b.reader.answered) > 2 || len(b.reader.late) > 0 {
			t.Errorf("after %d messages: %v, %v", read, b.reader.answered, b.reader.late)
		}
	}
	if read != len(s) {
		t.Errorf("%d messages of %d", read, len(s))
	}
}

// Any JSON of a message and a part gives no panic, bounded texts, and messages that can be marshalled. It does not matter where the
// reading of messages stops and continues. A part whose end is missing is no message.
func FuzzTranscript(f *testing.F) {
	const answer = `{"role":"assistant","time":{"created":5,"completed":9},"modelID":"m","providerID":"p","parentID":"msg_1","tokens":{"input":3},"error":{"name":"X","data":{"message":"y"}}}`
	parts, err := filepath.Glob("testdata/json-1.1.65-family/storage/part/*/*.json")
	if err != nil || len(parts) == 0 {
		f.Fatal(parts, err)
	}
	for _, path := range parts {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(answer), raw)
	}
	f.Add([]byte(`{"role":"user","time":{"created":5}}`), []byte(`{"type":"compaction","auto":true}`))
	f.Add([]byte(`{"role":"assistant","summary":true,"finish":"tool-calls"}`), []byte(`{"type":"text","text":"x","synthetic":true}`))
	f.Add([]byte(answer), []byte(`{"type":"tool","state":{"status":"error","input":[1,"x"],"error":"The user dismissed this question"}}`))
	f.Add([]byte(answer), []byte(`{"type":"retry","error":{"data":{"message":"busy"}},"time":{"created":7}}`))
	f.Fuzz(func(t *testing.T, message, part []byte) {
		s := memoryRows{
			newMemoryMessage("msg_1", `{"role":"user"}`, `{"type":"text","text":"do it"}`),
			newMemoryMessage("msg_2", string(message), string(part), string(part)),
		}
		got := parse(s, 100)
		if one := parse(s, 1); !reflect.DeepEqual(got, one) {
			t.Errorf("in batches of one: %+v\nat once: %+v", one, got)
		}
		if got.prompt != "do it" || len([]rune(got.turn.Error)) > errorLimit {
			t.Errorf("%+v", got)
		}
		for i, m := range got.messages {
			isTokens := i == 0 && got.usage.Tokens.Total > 0
			if strings.HasPrefix(m.ID, "prt_2") && !storage.Object(part).Complete() {
				t.Errorf("a torn part: %+v", m)
			}
			if m.ID == "" || m.Role == "" || m.Kind == "" || (m.Kind == discover.KindTool) != (m.Tool != nil) || m.Tokens != nil && !isTokens {
				t.Errorf("%+v", m)
			}
			if _, err := json.Marshal(m.Message); err != nil {
				t.Errorf("%+v: %v", m, err)
			}
		}
	})
}
