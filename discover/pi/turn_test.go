package pi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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
