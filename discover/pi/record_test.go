package pi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// Lines of made-up sessions.
const (
	headerLine  = `{"type":"session","version":3,"id":"s1","timestamp":"2026-11-26T10:00:00.000Z","cwd":"/w"}`
	modelLine   = `{"type":"model_change","id":"m0","parentId":null,"timestamp":"2026-11-26T10:00:00.100Z","provider":"p","modelId":"chosen"}`
	userLine    = `{"type":"message","id":"u1","parentId":"m0","timestamp":"2026-11-26T10:00:01.000Z","message":{"role":"user","content":"do it"}}`
	callLine    = `{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-11-26T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"provider":"p","model":"m","usage":{"input":10,"output":5,"cacheRead":3,"cacheWrite":2,"reasoning":1,"cost":{"total":0.5}},"stopReason":"toolUse"}}`
	resultLine  = `{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-11-26T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"file"}],"isError":false}}`
	answerLine  = `{"type":"message","id":"a2","parentId":"r1","timestamp":"2026-11-26T10:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"provider":"p","model":"m","usage":{"input":20,"output":6,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.25}},"stopReason":"stop"}}`
	errorLine   = `{"type":"message","id":"a3","parentId":"u1","timestamp":"2026-11-26T10:00:04.000Z","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"error","errorMessage":"500: no"}}`
	retryLine   = `{"type":"context_edit","id":"e1","parentId":"a3","timestamp":"2026-11-26T10:00:04.100Z","targetId":"a3","replacement":null}`
	abortedLine = `{"type":"message","id":"a4","parentId":"u1","timestamp":"2026-11-26T10:00:04.000Z","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Operation aborted"}}`
	shellLine   = `{"type":"message","id":"b1","parentId":"a2","timestamp":"2026-11-26T10:00:05.000Z","message":{"role":"bashExecution","command":"id","output":"root"}}`
	nameLine    = `{"type":"session_info","id":"n1","parentId":"a2","timestamp":"2026-11-26T10:00:06.000Z","name":" A name "}`
)

func session(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// parse reads bytes as the file of a session.
func parse(data []byte, options discover.ReadOptions) (u discover.SessionUsage, ok bool, err error) {
	const path = "/x/sessions/--w--/2026-11-26T10-00-00-000Z_s1.jsonl"
	ok, err = readerOf(options)(storage.NewMemoryFile(path, data, time.Time{}), discover.Entry{Agent: agentName, ID: "s1", Path: path, Home: "/x"}, &u)
	return u, ok, err
}

// readHome reads all sessions of a home, sorted by path. Every error must be a warning that names a path.
func readHome(t testing.TB, dir string, options discover.ReadOptions) (records []discover.Record, warnings []error) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	add := func(err error) {
		if w, ok := errors.AsType[*discover.Warning](err); !ok || w.Path == "" || w.Agent != agentName {
			t.Errorf("not a warning that names a path: %v", err)
		}
		warnings = append(warnings, err)
	}
	if err != nil {
		add(err)
	}
	for r, err := range New().Read(t.Context(), entries, options) {
		if err != nil {
			add(err)
		} else {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b discover.Record) int { return strings.Compare(a.Path, b.Path) })
	return records, warnings
}

// The captured sessions read as recorded. testdata/*/README describes each. A list reads less than a status, but the same values.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/[0-9]*")
	if err != nil || len(dirs) < 16 {
		t.Fatalf("%d folders of fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			list, _ := readHome(t, dir, discover.ReadOptions{})
			full, warnings := readHome(t, dir, discover.ReadOptions{Full: true})
			if len(warnings) > 0 || len(list) != len(full) {
				t.Fatal(len(list), len(full), warnings)
			}
			golden.Compare(t, filepath.Join("testdata", "golden", filepath.Base(dir)+".json"), golden.JSON(t, full))
			for i := range list {
				full[i].Tokens, full[i].Cost = nil, nil
				delete(full[i].Meta, "turns")
				a, _ := json.Marshal(list[i])
				b, _ := json.Marshal(full[i])
				if !bytes.Equal(a, b) {
					t.Errorf("list\n%s\nstatus\n%s", a, b)
				}
			}
		})
	}
}

// Each field comes from the entry that decides it.
func TestRecordFields(t *testing.T) {
	other := strings.NewReplacer("do it", "more", `"u1"`, `"u9"`).Replace(userLine)
	for name, test := range map[string]struct {
		lines []string
		check func(r discover.Record) bool
	}{
		"first prompt":          {[]string{headerLine, userLine, answerLine, other}, func(r discover.Record) bool { return r.Prompt == "do it" }},
		"files before it":       {[]string{headerLine, strings.Replace(userLine, "do it", `--- File: a ---\nx\n--- End File ---\n\ndo it`, 1)}, func(r discover.Record) bool { return r.Prompt == "do it" }},
		"image":                 {[]string{headerLine, strings.Replace(userLine, `"do it"`, `[{"type":"image","data":"x"}]`, 1)}, func(r discover.Record) bool { return r.Prompt == "[image]" }},
		"model that answered":   {[]string{headerLine, modelLine, userLine, answerLine, modelLine}, func(r discover.Record) bool { return r.Model == "m" }},
		"model that was chosen": {[]string{headerLine, modelLine, userLine}, func(r discover.Record) bool { return r.Model == "chosen" && r.Meta["provider"] == "p" }},
		"name":                  {[]string{headerLine, nameLine, userLine, strings.Replace(nameLine, " A name ", "B", 1), answerLine}, func(r discover.Record) bool { return r.Title == "B" }},
		"name was removed":      {[]string{headerLine, nameLine, userLine, strings.Replace(nameLine, " A name ", "", 1), answerLine}, func(r discover.Record) bool { return r.Title == "" }},
		"copied entries only":   {[]string{strings.Replace(headerLine, "10:00:00", "11:00:00", 1), userLine, answerLine}, func(r discover.Record) bool { return r.Updated.Equal(r.Created) && r.Updated.Hour() == 11 }},
		"no prompt":             {[]string{headerLine, modelLine}, func(r discover.Record) bool { return r.Turn.State == discover.TurnNone && r.Dir == "/w" }},
	} {
		for _, options := range []discover.ReadOptions{{}, {Full: true}} {
			if u, ok, err := parse(session(test.lines...), options); !ok || err != nil || !test.check(u.Record) {
				t.Errorf("%s: %t, %v, %+v", name, ok, err, u.Record)
			}
		}
	}
}

// A damaged line is reported with its number, and the rest is read. What is no session is an error, and what may become one is nothing.
func TestDamage(t *testing.T) {
	for name, test := range map[string]struct {
		data  []byte
		ok    bool
		error string
		state discover.TurnState
	}{
		"middle":             {session(headerLine, userLine, callLine[:50], answerLine), true, "line 3: a damaged record is left out", discover.TurnDone},
		"end":                {session(headerLine, userLine, answerLine[:50]), true, "line 3: a damaged record is left out", discover.TurnUnknown},
		"torn at the end":    {append(session(headerLine, userLine), answerLine[:50]...), true, "", discover.TurnOpen},
		"two lines in one":   {session(headerLine, userLine, callLine[:50]+answerLine), true, "line 3: a damaged record is left out", discover.TurnDone},
		"only a line break":  {append(session(headerLine, userLine), answerLine...), true, "", discover.TurnDone},
		"no header":          {session(userLine, answerLine), false, errNoHeader.Error(), 0},
		"header in part":     {[]byte(headerLine[:40]), false, "", 0},
		"something else":     {[]byte("hello"), false, errNoHeader.Error(), 0},
		"empty":              {nil, false, "", 0},
		"zeros at the start": {session("\x00\x00\x00", headerLine, userLine), false, errNoHeader.Error(), 0},
	} {
		for _, options := range []discover.ReadOptions{{}, {Full: true}} {
			u, ok, err := parse(test.data, options)
			if text := ""; err != nil {
				text = err.Error()
				if text != test.error {
					t.Errorf("%s: %v", name, err)
				}
			} else if text != test.error {
				t.Errorf("%s: no error", name)
			}
			if ok != test.ok || u.Turn.State != test.state {
				t.Errorf("%s: %t, %+v", name, ok, u.Record)
			}
		}
	}
}

// Any bytes give no panic and bounded texts, and a torn last line changes nothing.
func FuzzSession(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/sessions/*/*.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil {
			f.Add(data)
		}
	}
	f.Add(session(headerLine, modelLine, userLine, callLine, resultLine, answerLine, errorLine, retryLine, abortedLine, shellLine, nameLine))
	f.Add([]byte{0, 255, '\n'})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, options := range []discover.ReadOptions{{}, {Full: true}} {
			u, ok, err := parse(data, options)
			end := bytes.LastIndexByte(data, '\n') + 1
			if v, wholeOK, wholeErr := parse(data[:end], options); end > 0 && !storage.Object(data[end:]).Complete() {
				a, _ := json.Marshal(u)
				b, _ := json.Marshal(v)
				if !bytes.Equal(a, b) || ok != wholeOK || (err == nil) != (wholeErr == nil) {
					t.Fatalf("torn:  %s, %v\nwhole: %s, %v", a, err, b, wholeErr)
				}
			}
			if !ok && err == nil && u.ID != "" || len([]rune(u.Prompt)) > discover.PromptLimit {
				t.Fatalf("%+v", u.Record)
			}
		}
		for _, err := range discover.StreamMessages(agentName, func(out *discover.MessageStream) {
			_ = readMessages(storage.NewMemoryFile("/x", data, time.Time{}), out)
		}) {
			_ = err // damage
		}
	})
}

// messagesOf returns the messages of made-up lines, the oldest first, as their IDs, kinds and texts.
func messagesOf(t *testing.T, data []byte) (list []discover.Message) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(t, os.WriteFile(path, data, 0o600))
	for m, err := range New().Messages(context.Background(), discover.Record{Path: path}) {
		must.Do(t, err)
		list = append(list, m)
	}
	slices.Reverse(list)
	return list
}

// The newest message of the conversation says how far the newest turn has got.
func TestTurn(t *testing.T) {
	compaction := `{"type":"compaction","id":"k1","parentId":"a2","timestamp":"2026-11-26T10:00:07.000Z","summary":"so far"}`
	more := strings.NewReplacer(`"u1"`, `"u2"`, `"m0"`, `"a2"`, "10:00:01", "10:01:00").Replace(userLine)
	stopReason := func(reason string) string { return strings.Replace(answerLine, `"stop"`, `"`+reason+`"`, 1) }
	// Another process appends to the session: its prompt follows u1, too.
	aside := strings.NewReplacer(`"u1"`, `"u3"`, `"m0"`, `"u1"`, "10:00:01", "10:00:05").Replace(userLine)
	asideAnswer := strings.NewReplacer(`"a2"`, `"a7"`, `"r1"`, `"u3"`).Replace(answerLine)
	for name, test := range map[string]struct {
		lines []string
		want  discover.Turn // without Began
		began int           // its second; -1: not known
	}{
		"prompt": {[]string{userLine}, discover.Turn{State: discover.TurnOpen, Unanswered: true, Prompt: "do it"}, 1},
		"call":   {[]string{userLine, callLine}, discover.Turn{State: discover.TurnOpen, Detail: "tool: bash"}, 1},
		"two calls, one result": {
			[]string{userLine, strings.Replace(callLine, `{"type":"text","text":"let me see"}`, `{"type":"toolCall","id":"c0","name":"read","arguments":{"path":"/a"}}`, 1), resultLine},
			discover.Turn{State: discover.TurnOpen, Detail: "tool: read"},
			1,
		},
		"result":             {[]string{userLine, callLine, resultLine}, discover.Turn{State: discover.TurnOpen}, 1},
		"answer":             {[]string{userLine, callLine, resultLine, answerLine}, discover.Turn{State: discover.TurnDone}, 1},
		"token limit":        {[]string{userLine, callLine, resultLine, stopReason("length")}, discover.Turn{State: discover.TurnDone}, 1},
		"aborted":            {[]string{userLine, abortedLine}, discover.Turn{State: discover.TurnInterrupted}, 1},
		"error":              {[]string{userLine, errorLine}, discover.Turn{State: discover.TurnFailed, Error: "500: no"}, 1},
		"error, retried":     {[]string{userLine, errorLine, retryLine}, discover.Turn{State: discover.TurnOpen, Detail: "asks the model again"}, 1},
		"error, then edited": {[]string{userLine, errorLine, strings.Replace(retryLine, "null}", `"x"}`, 1)}, discover.Turn{State: discover.TurnFailed, Error: "500: no"}, 1},
		"name and more":      {[]string{userLine, callLine, resultLine, answerLine, nameLine, compaction, modelLine}, discover.Turn{State: discover.TurnDone}, 1},
		"shell command":      {[]string{userLine, callLine, resultLine, answerLine, shellLine}, discover.Turn{State: discover.TurnDone}, 1},
		"second prompt":      {[]string{userLine, callLine, resultLine, answerLine, more}, discover.Turn{State: discover.TurnOpen, Unanswered: true, Prompt: "do it"}, 0},
		"unknown end":        {[]string{userLine, callLine, resultLine, stopReason("later")}, discover.Turn{}, 1},
		"other branch open":  {[]string{userLine, aside, callLine, asideAnswer}, discover.Turn{State: discover.TurnOpen}, 5},
		"other branch ended": {[]string{userLine, callLine, resultLine, aside, answerLine, asideAnswer}, discover.Turn{State: discover.TurnDone}, 5},
		"version 1": {
			[]string{strings.Replace(userLine, `"id":"u1","parentId":"m0",`, "", 1), strings.Replace(answerLine, `"id":"a2","parentId":"r1",`, "", 1)},
			discover.Turn{State: discover.TurnDone},
			1,
		},
	} {
		u, ok, err := parse(session(slices.Concat([]string{headerLine}, test.lines)...), discover.ReadOptions{})
		began, call := u.Turn.Began.Second(), u.Turn.OpenCall
		if detail := u.Turn.Detail; (call != nil) != strings.HasPrefix(detail, "tool: ") || call != nil && detail != "tool: "+call.Tool {
			t.Errorf("%s: %+v, %+v", name, call, detail)
		}
		u.Turn.OpenCall = nil
		if u.Turn.Began = test.want.Began; !ok || err != nil || u.Turn != test.want || began != test.began {
			t.Errorf("%s: %+v, began %d, %v", name, u.Turn, began, err)
		}
	}
}

// What was said is shown in the order in which it was written: prompts, answers, calls with their results, failures, summaries, and the
// commands that the user ran.
func TestMessages(t *testing.T) {
	compaction := `{"type":"compaction","id":"k1","parentId":"a2","timestamp":"2026-11-26T10:00:07.000Z","summary":"so far","firstKeptEntryId":"u1"}`
	branch := `{"type":"branch_summary","id":"k2","parentId":"a2","timestamp":"2026-11-26T10:00:08.000Z","summary":"tried A","fromId":"a2"}`
	shown := `{"type":"custom_message","id":"x1","parentId":"a2","timestamp":"2026-11-26T10:00:09.000Z","content":"note","display":true}`
	hidden := strings.NewReplacer("x1", "x2", `"display":true`, `"display":false`).Replace(shown)
	failed := strings.NewReplacer(`"isError":false`, `"isError":true`, `"r1"`, `"r2"`, `"c1"`, `"c2"`, `"file"`, `"Command aborted"`).Replace(resultLine)
	second := strings.NewReplacer(`"a1"`, `"a5"`, `"c1"`, `"c2"`).Replace(callLine)
	open := strings.NewReplacer(`"a1"`, `"a6"`, `"c1"`, `"c3"`).Replace(callLine)
	list := messagesOf(t, session(headerLine, modelLine, userLine, callLine, resultLine, answerLine, shellLine, nameLine, compaction, branch,
		shown, hidden, second, failed, abortedLine, errorLine, retryLine, open))
	var got []string
	for _, m := range list {
		text := m.Text
		if c := m.Tool; c != nil {
			text = fmt.Sprintf("%s %s %s %s", c.Name, c.Brief, c.State, c.Output)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", m.ID, m.Role, m.Kind, text)))
	}
	want := []string{
		"u1 user text: do it", "a1 assistant text: let me see", "a1/1 assistant tool: bash ls done file", "a2 assistant text: done",
		"b1 system text: ! id\nroot", "k1 system compaction: so far", "k2 system text: tried A", "x1 system text: note",
		"a5 assistant text: let me see", "a5/1 assistant tool: bash ls cut Command aborted", "a4 system interruption: Operation aborted",
		"a3 system error: 500: no", "a6 assistant text: let me see", "a6/1 assistant tool: bash ls open",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if m := list[1]; m.Model != "m" || m.Tokens == nil || m.Tokens.Total != 20 || list[2].Tokens != nil {
		t.Errorf("tokens of an answer: %+v, %+v", m, list[2])
	}
}
