package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/schema"
)

func line(t must.T, m discover.Message, s discover.Session) string {
	var b bytes.Buffer
	must.Do(t, render.JSONLine(&b, object.NewMessage(m, s)))
	return b.String()
}

func TestMessageAsJSON(t *testing.T) {
	waiting := toolCall("git push", discover.ToolWaiting, "", time.Minute)
	waiting.Tokens = &discover.Tokens{In: 1, Out: 2, Total: 3}
	waiting.Model, waiting.Session = "opus", ""
	silent := toolCall("true", discover.ToolDone, "", time.Minute)
	silent.Tool.Input = nil
	for want, m := range map[string]discover.Message{
		`{"id":"m-hi","session":"s","role":"user","kind":"text","time":"2026-11-20T11:59:00.000Z","text":"hi"}`: textMessage(discover.RoleUser, discover.KindText, "hi", time.Minute),
		`{"id":"m-","session":"s","role":"user","kind":"text","time":"2026-11-20T11:59:00.000Z","text":""}`:     textMessage(discover.RoleUser, discover.KindText, "", time.Minute),
		`{"id":"x","role":"system","kind":"interruption"}`:                                                      {ID: "x", Role: discover.RoleSystem, Kind: discover.KindInterruption},
		`{"id":"c-git push","role":"assistant","kind":"tool","time":"2026-11-20T11:59:00.000Z",` +
			`"tool":{"id":"toolu_1","name":"Bash","brief":"git push","input":{"command":"git push","timeout":5},"state":"waiting","waitingFor":"permission"},` +
			`"model":"opus","tokens":{"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"reasoning":0,"total":3}}`: waiting,
		`{"id":"c-true","session":"s","role":"assistant","kind":"tool","time":"2026-11-20T11:59:00.000Z",` +
			`"tool":{"id":"toolu_1","name":"Bash","brief":"true","output":"","state":"done"}}`: silent,
	} {
		if got := line(t, m, completeSession()); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	for _, m := range conversation() {
		if err := schema.Check("message", line(t, m, completeSession())); err != nil {
			t.Error(err)
		}
	}
}

// Any tool input gives one line of JSON without anything that a terminal interprets, and input that is JSON keeps
// its value.
func TestToolInputStaysJSON(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for raw, want := range map[string]string{
		"{\n  \"a\" : 1\n}":                  `{"a":1}`,
		`{"a":`:                              `"{\"a\":"`,
		`{"a":1} {"b":2}`:                    `"{\"a\":1} {\"b\":2}"`,
		"{\"a\":\"\x1b[2J\"}":                `"{\"a\":\"\u001b[2J\"}"`,
		"{\"a\":\"\u202e\u009b\u2028\x7f\"}": `{"a":"\u202e\u009b\u2028\u007f"}`,
		"{\"a\":\"\xff\"}":                   `{"a":"\ufffd"}`,
		`{"a":"\ud800<&>"}`:                  `{"a":"\ufffd<&>"}`,
		`{"\uDC00":"\ud83d\ud83d\ude00"}`:    `{"\ufffd":"\ufffd\ud83d\ude00"}`,
		`{"a":"\uD83D\uDE00\n\ud83d"}`:       `{"a":"\uD83D\uDE00\n\ufffd"}`,
		`{"a":"\\ud83d\\\ude00"}`:            `{"a":"\\ud83d\\\ufffd"}`,
		"{\"a\":\"\xed\xa0\xbd\"}":           `{"a":"\ufffd\ufffd\ufffd"}`,
		`1e400`:                              `1e400`,
		`null`:                               `null`,
		deep:                                 `"` + deep + `"`,
	} {
		m := toolCall("x", discover.ToolDone, "", time.Minute)
		m.Tool.Input = json.RawMessage(raw)
		got := line(t, m, completeSession())
		want = strings.ReplaceAll(want, `\ufffd`, "\ufffd")
		if !strings.Contains(strings.ReplaceAll(got, `\ufffd`, "\ufffd"), `"input":`+want+`,"output"`) {
			t.Errorf("%.60q: %.300s", raw, got)
		}
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := toolCall(rapid.String().Draw(t, "command"), discover.ToolDone, rapid.String().Draw(t, "output"), time.Minute)
		m.Text = rapid.String().Draw(t, "text")
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "input")
		m.Tool.Input = raw
		got := line(t, m, completeSession())
		if unsafeReason(strings.TrimSuffix(got, "\n")) != "" || !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		var back struct {
			Text string
			Tool struct{ Brief, Output string }
		}
		must.Do(t, json.Unmarshal([]byte(got), &back))
		if back.Text != m.Text || back.Tool.Brief != m.Tool.Brief || back.Tool.Output != m.Tool.Output {
			t.Fatalf("%q came back as %+v", got, back)
		}
	})
}

// docs/json.md shows the event exactly as it is printed.
func TestEventEqualsDocsExample(t *testing.T) {
	s := discover.Session{
		Record: &discover.Record{
			Agent: "claude-code", ID: "e226c6c2-71f1-4dd8-9d83-1b4d2a9a5f10", Dir: "/home/me/src/api",
			Title: "fix the flaky login test", Source: "tui", Updated: now.Add(-300 * time.Millisecond),
		},
		Status: discover.Waiting, WaitingFor: "permission",
		Processes: []proc.Process{{ID: proc.ID{PID: 23113, Birth: "b/1"}, Started: now.Add(-time.Hour)}},
	}
	var line strings.Builder
	must.Do(t, render.JSONLine(&line, object.NewEvent(watch.SessionWaiting, now, object.NewSession(s))))
	doc, err := os.ReadFile("../../docs/json.md")
	must.Do(t, err)
	if !strings.Contains(string(doc), "```json event\n"+line.String()+"```\n") {
		t.Errorf("docs/json.md lacks %s", line.String())
	}
}

// What a session says cannot look like a line of ours, move the cursor, or hide a part of itself.
func TestRequestOfAHostileSession(t *testing.T) {
	lie := "ls\x1b[2K\r\nrequest    per_other\nalways     nothing\u202e\x07"
	id := "ses_1"
	r := object.Request{
		Session: object.Session{ID: &id, Adapter: "opencode", CWD: "/x\nsession    other", Title: "t\nasks       question: harmless"},
		ID:      "per_1\nrequest    per_2", Kind: "permission", Tool: "bash\nno         nothing", Text: lie, Reason: lie, Always: "allows\nrequest    per_3",
	}
	print := func() string {
		var b strings.Builder
		must.Do(t, render.Request(&b, &r, render.TextOptions{}))
		return b.String()
	}
	for _, text := range []string{print(), func() string {
		r.Questions = []object.Question{{Header: lie, Text: lie, Choices: []object.Choice{{Label: lie, Description: lie}}}}
		return print()
	}()} {
		if strings.ContainsAny(text, "\x1b\r\x07\u202e") {
			t.Errorf("control characters: %q", text)
		}
		for _, ours := range []string{"session ", "asks ", "request ", "always ", "title "} {
			if n := strings.Count("\n"+text, "\n"+ours); n != 1 {
				t.Errorf("%d lines begin with %q:\n%s", n, ours, text)
			}
		}
	}
	if !strings.Contains(print(), "left out") {
		t.Error("nothing says that a part is not shown")
	}
	if text := render.ReplyText(&r); strings.Contains(text, "\n") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
