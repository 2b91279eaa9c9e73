package opencode

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

func TestParseCommand(t *testing.T) {
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	for line, want := range map[string]commandLine{
		"":                                   {mode: modeTUI},
		"/some/project":                      {mode: modeTUI},
		"-s " + id:                           {mode: modeTUI, session: id, resumes: true},
		"-c --fork":                          {mode: modeTUI},
		"-m a/b run -s " + id + " hi there":  {mode: modeRun, name: "run", session: id, resumes: true, promptArgs: []string{"hi", "there"}},
		"run --session=" + id + " --fork x":  {mode: modeRun, name: "run", promptArgs: []string{"x"}},
		"run --title T -f a.txt x -- --help": {mode: modeRun, name: "run", title: "T", promptArgs: []string{"x", "--help"}},
		"run --log-level ERROR x":            {mode: modeRun, name: "run", promptArgs: []string{"x"}},
		"--print-logs serve --port 1":        {mode: modeServer, name: "serve"},
		"serve --service":                    {mode: modeServer, name: "serve", v2Service: true},
		"acp --cwd /x":                       {mode: modeServer, name: "acp"},
		"run --attach=http://h x":            {mode: modeNone, name: "run", promptArgs: []string{"x"}},
		"attach http://h -s " + id:           {mode: modeNone, name: "attach", session: id, resumes: true, promptArgs: []string{"http://h"}},
		"session list":                       {mode: modeNone, name: "session", promptArgs: []string{"list"}},
		"--model":                            {mode: modeTUI},
		"run -s":                             {mode: modeRun, name: "run"},
	} {
		if got := parseArgs(strings.Fields(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", line, got, want)
		}
	}
}

func TestPrompt(t *testing.T) {
	for stored, want := range map[string]string{
		`hello`: "hello", `"hello world"`: "hello world", "\"hello world\"\n": "hello world", "hi\n": "hi",
		`"say \"hi\" to it"`: `say "hi" to it`, `fix "the bug"`: `fix "the bug"`, `"a b" "c d"`: `"a b" "c d"`,
		`"`: "", `""`: "", "\"a b\"\nfrom stdin": "\"a b\"\nfrom stdin",
	} {
		if got := prompt(stored); got != want {
			t.Errorf("%q: got %q, want %q", stored, got, want)
		}
	}
	if got := quoteArgs([]string{"fix", `the "big" bug`, "now"}); got != `fix "the \"big\" bug" now` {
		t.Errorf("got %s", got)
	}
	if got := prompt(`"` + strings.Repeat("ä ", 250)); len([]rune(got)) != discover.PromptLimit {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func TestTurnOf(t *testing.T) {
	for name, c := range map[string]struct {
		message string // "" for none
		parts   []string
		want    discover.Turn
	}{
		"nothing asked":   {"", nil, discover.Turn{State: discover.TurnNone}},
		"asked":           {`{"role":"user"}`, nil, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"answering":       {`{"role":"assistant","time":{"created":1}}`, []string{`{"type":"step-start"}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"tool":            {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"running"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "tool: bash"}},
		"tool ended":      {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"completed"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"question":        {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"question","state":{"status":"running","input":{"questions":[{"question":"Which?"},{"question":"How?"}]}}}`}, discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: &discover.WaitingOn{Tool: "question", Summary: "Which?", Questions: []string{"Which?", "How?"}}}},
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
		var last *message
		if c.message != "" {
			m := parseMessage([]byte(c.message))
			last = &m
		}
		var parts []part
		for _, p := range c.parts {
			parts = append(parts, parsePart([]byte(p)))
		}
		if got := turnOf(last, parts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAsking(t *testing.T) {
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

// Ids are compared by time across the moment when it comes round.
func TestIDsSince(t *testing.T) {
	created := time.UnixMilli(1795201766525) // SEEN: ses_e05a2eb82ffe…
	holds := func(spans []idRange, id string) bool {
		return slices.ContainsFunc(spans, func(s idRange) bool { return id >= s.from && id < s.to })
	}
	const id = "ses_e05a2eb82ffei3FepNAqdqxz65"
	if spans := sessionIDsSince(created); !holds(spans, id) {
		t.Errorf("its own time: %v", spans)
	}
	if spans := sessionIDsSince(created.Add(time.Second)); holds(spans, id) {
		t.Errorf("a second later: %v", spans)
	}
	for _, start := range []int64{1<<36*26 - 500, 1<<36*26 + 500, 1<<36*26 - 1<<35} {
		spans := messageIDsSince(time.UnixMilli(start))
		if now := messageIDsSince(time.UnixMilli(start + 1000)); !holds(spans, now[0].from+"x") {
			t.Errorf("%d: %v does not hold a second later", start, spans)
		}
		if before := messageIDsSince(time.UnixMilli(start - 1000)); holds(spans, before[0].from+"x") {
			t.Errorf("%d: %v holds a second before", start, spans)
		}
	}
}

func TestMark(t *testing.T) {
	if mark, ok := New().ReadMarker(func(string) string { return "12" }); mark != (discover.EnvMarker{PID: 12}) || !ok {
		t.Errorf("%+v, %v", mark, ok)
	}
	if mark, ok := New().ReadMarker(func(string) string { return "" }); mark != (discover.EnvMarker{}) || ok {
		t.Errorf("of nothing: %+v, %v", mark, ok)
	}
}

// What follows a whole message, the beginning of another say, changes nothing of it.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","time":{"created":1,"completed":2},"finish":"stop","error":{"name":"x","data":{"message":"y"}}}`))
	f.Add([]byte(`{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"x"},"time":{"start":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, p := parseMessage(data), parsePart(data)
		turnOf(&m, []part{p})
		if !jsonl.Object(data).Complete() {
			return
		}
		more := append(bytes.Clone(data), `{"role":"user","finish":"torn","tool":"torn","type":"torn","state":{"status":"torn`...)
		if parseMessage(more) != m || parsePart(more) != p {
			t.Errorf("%q: followed by another %+v %+v, alone %+v %+v", data, parseMessage(more), parsePart(more), m, p)
		}
	})
}

// The time in a message's id is the one beside it, also where the 48 bits have come round in between.
func TestMessageTime(t *testing.T) {
	const created = 1795222480365
	for _, c := range []struct {
		id           string
		before, want int64
	}{
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created + 880, created}, // SEEN 1.18.33
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created, created},
		{"msg_fffffffff001aaaaaaaaaaaaaa", 1 << 36 * 26, 1<<36*26 - 1},
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created - 1, created - 1}, // a copy's
		{"msg_short", created, 0},
		{"prt_1fb9925ed001", created, 0},
		{"msg_zzzzzzzzzzzz", created, 0},
		{"", created, 0},
	} {
		if got := messageIDTime(c.id, c.before); got != c.want {
			t.Errorf("messageTime(%q, %d) = %d, want %d", c.id, c.before, got, c.want)
		}
	}
}

// A title that the agent gives to every session at first is none.
func TestUsualTitles(t *testing.T) {
	for stored, want := range map[string]string{
		"New session - 2026-11-20T19:20:45.913Z":           "",
		"Child session - 2026-11-20T19:20:45.913Z":         "",
		"New session - 2026-11-20T19:20:45.913Z (fork #1)": "",
		"New session - of mine":                            "New session - of mine",
		"Fix the parser":                                   "Fix the parser",
	} {
		if got := title(stored); got != want {
			t.Errorf("%q is %q, want %q", stored, got, want)
		}
	}
}

// The prompt is what the person asked, not the file that a launch puts before it, however long that is.
func TestPromptBehindAFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	if err != nil {
		t.Fatal(err)
	}
	if p := parsePart([]byte(`{"type":"text","text":` + string(text) + `}`)); p.text != "make it so" {
		t.Errorf("%.80q", p.text)
	}
}
