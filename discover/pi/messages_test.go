package pi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
