package render_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/tests/must"
)

// textMessage is a message of an age.
func textMessage(role discover.Role, kind discover.MessageKind, text string, age time.Duration) discover.Message {
	return discover.Message{ID: "m-" + text, Session: "s", Role: role, Kind: kind, Text: text, Time: now.Add(-age)}
}

// toolCall is a call of a shell.
func toolCall(command string, state discover.ToolState, output string, age time.Duration) discover.Message {
	m := textMessage(discover.RoleAssistant, discover.KindTool, "", age)
	input, _ := json.Marshal(map[string]any{"command": command, "timeout": 5})
	m.ID = "c-" + command
	m.Tool = &discover.ToolCall{ID: "toolu_1", Name: "Bash", Input: input, Brief: command, Output: output, State: state}
	return m
}

func answered(m discover.Message, model string) discover.Message {
	m.Model = model
	return m
}

// conversation has a message of every kind.
func conversation() []discover.Message {
	return []discover.Message{
		textMessage(discover.RoleUser, discover.KindText, "Mend the parser, please:\n\n\tif x {\n", time.Hour),
		answered(textMessage(discover.RoleAssistant, discover.KindText, "I look at **it**.", 50*time.Minute), "opus"),
		answered(toolCall("npm test", discover.ToolDone, "ok\nfine\n", 49*time.Minute), "opus"),
		toolCall("npm   run\nlint", discover.ToolFailed, "\n  Exit code 1\nbad", 48*time.Minute),
		toolCall("rm -rf /", discover.ToolRefused, "The user said no", 47*time.Minute),
		toolCall("sleep 1", discover.ToolInterrupted, "", 46*time.Minute),
		textMessage(discover.RoleUser, discover.KindInterruption, "interrupted", 45*time.Minute),
		textMessage(discover.RoleSystem, discover.KindError, "the model is away", 44*time.Minute),
		textMessage(discover.RoleSystem, discover.KindCompaction, strings.Repeat("They spoke.\n", 14), 43*time.Minute),
		textMessage(discover.RoleSystem, discover.KindText, "note", 42*time.Minute),
		answered(toolCall("make", discover.ToolRunning, "", 41*time.Minute), "haiku"),
		toolCall("git push", discover.ToolWaiting, "", 40*time.Minute),
	}
}

func transcript(t *testing.T, look render.TranscriptOptions, messages ...discover.Message) string {
	t.Helper()
	var b bytes.Buffer
	tr := render.NewTranscript(&b, look)
	for _, m := range messages {
		must.Do(t, tr.Write(render.TranscriptMessage{Message: object.NewMessage(m, completeSession())}))
	}
	return b.String()
}

func TestTranscript(t *testing.T) {
	want := `
user  2026-11-20 11:00:00 (1h ago)
  Mend the parser, please:

      if x {

assistant  2026-11-20 11:10:00 (50m ago)  opus
  I look at **it**.
⏺ Bash  npm test
⏺ Bash  npm run lint  error: Exit code 1
⏺ Bash  rm -rf /  refused
⏺ Bash  sleep 1  cut

interrupted  2026-11-20 11:15:00 (45m ago)

error  2026-11-20 11:16:00 (44m ago)
  the model is away

compacted  2026-11-20 11:17:00 (43m ago)
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  They spoke.
  … 4 more lines

system  2026-11-20 11:18:00 (42m ago)
  note

assistant  2026-11-20 11:19:00 (41m ago)  haiku
⏺ Bash  make  running
⏺ Bash  git push  waiting for permission
`
	look := render.TranscriptOptions{TextOptions: render.TextOptions{Now: now, Width: 80}, ShowAge: true}
	if got := transcript(t, look, conversation()...); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
}

func TestTranscriptToolCalls(t *testing.T) {
	long := toolCall("cat", discover.ToolDone, strings.Repeat("row\n", 12)+strings.Repeat("wide ", 100), time.Minute)
	long.Tool.Input = json.RawMessage(`{"text":"a\nb","none":null,"list":[1, 2],"s":"x"}`)
	odd := toolCall("odd", discover.ToolDone, strings.Repeat("wide ", 100), time.Minute)
	odd.Tool.Input = json.RawMessage(`"only words"`)
	none := toolCall("none", discover.ToolFailed, "why not", time.Minute)
	none.Tool.Input = json.RawMessage(`{"torn":`)
	want := `
assistant  2026-11-20 11:59:00
⏺ Bash  cat
    input
      text:
        a
        b
      none: null
      list: [1, 2]
      s: x
    output
      row
      row
      row
      row
      row
      row
      row
      row
      row
      row
      … 3 more lines
⏺ Bash  odd
    input
      only words
    output
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      wide wide wide wide wide wide
      … 199 more characters
⏺ Bash  none  error
    input
      {"torn":
    output
      why not
`
	look := render.TranscriptOptions{TextOptions: render.TextOptions{Now: now, Width: 36}, ShowTools: true}
	if got := transcript(t, look, long, odd, none); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
	look.Full = true
	if got := transcript(t, look, long, odd, none); strings.Contains(got, "more") || strings.Count(got, "wide") != 200 {
		t.Errorf("not whole:\n%s", got)
	}
	look.Full, look.Width = false, 0
	if got := transcript(t, look, long, odd, none); strings.Contains(got, "more") || !strings.Contains(got, strings.Repeat("wide ", 99)+"wide\n") {
		t.Errorf("shortened or wrapped in a pipe:\n%s", got)
	}
}

// A message is not printed again; a changed tool call prints its new state.
func TestTranscriptChangedMessages(t *testing.T) {
	var b bytes.Buffer
	tr := render.NewTranscript(&b, render.TranscriptOptions{TextOptions: render.TextOptions{Now: now}, ShowTools: true})
	s := completeSession()
	write := func(again bool, m discover.Message, whose, waitingFor string) {
		entry := render.TranscriptMessage{Message: object.NewMessage(m, s), SessionLabel: whose}
		entry.Changed, entry.WaitingFor = again, waitingFor
		must.Do(t, tr.Write(entry))
	}
	write(false, answered(toolCall("a", discover.ToolRunning, "", time.Minute), "opus"), "", "")
	write(false, answered(toolCall("b", discover.ToolRunning, "", time.Minute), "opus"), "kid", "")
	write(true, toolCall("a", discover.ToolWaiting, "", time.Minute), "", "")
	write(true, toolCall("a", discover.ToolDone, "out", time.Minute), "", "")
	write(true, toolCall("b", discover.ToolFailed, "no", time.Minute), "kid", "")
	write(true, textMessage(discover.RoleAssistant, discover.KindText, "more of it", time.Minute), "", "permission")
	want := `
assistant  2026-11-20 11:59:00  opus
⏺ Bash  a  running
    input
      command: a
      timeout: 5

[kid] assistant  2026-11-20 11:59:00
[kid] ⏺ Bash  b  running
    input
      command: b
      timeout: 5
⏺ Bash  a  waiting for permission
⏺ Bash  a  done
    output
      out
[kid] ⏺ Bash  b  error
    output
      no

assistant  2026-11-20 11:59:00
  more of it

waiting for permission
`
	if got := b.String(); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
}

// No line is wider than the terminal, and its only escape sequences are our own colours.
func TestTranscriptFitsAndIsSanitized(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\t\x1b[]m;\a\r日👩\u200d\u202e\u009b\u2028")))
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(40, 100).Draw(t, "columns")
		m := textMessage(discover.RoleAssistant, discover.KindText, text.Draw(t, "text"), time.Minute)
		m.Model = text.Draw(t, "model")
		c := toolCall(text.Draw(t, "command"), rapid.SampledFrom([]discover.ToolState{
			discover.ToolDone, discover.ToolFailed, discover.ToolWaiting, discover.ToolRunning,
		}).Draw(t, "state"), text.Draw(t, "output"), time.Minute)
		c.Tool.Name = text.Draw(t, "name")
		s := completeSession()
		s.WaitingFor = text.Draw(t, "waiting for")
		var b bytes.Buffer
		tr := render.NewTranscript(&b, render.TranscriptOptions{
			TextOptions: render.TextOptions{Now: now, Width: columns, Color: true}, ShowTools: rapid.Bool().Draw(t, "tools"),
		})
		for _, message := range []discover.Message{m, c} {
			must.Do(t, tr.Write(render.TranscriptMessage{Message: object.NewMessage(message, s), SessionLabel: "kid-1234"}))
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := (displaywidth.Options{ControlSequences: true}).String(line); n > columns {
				t.Fatalf("%q is %d wide", line, n)
			}
			for _, color := range []string{"0", "2", "31", "32", "35", "36", "1;32", "30;43"} {
				line = strings.ReplaceAll(line, "\x1b["+color+"m", "")
			}
			if h := unsafeReason(line); h != "" {
				t.Fatalf("%q: %s", line, h)
			}
		}
	})
}
