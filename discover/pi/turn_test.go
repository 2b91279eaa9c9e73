package pi

import (
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
