package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
)

// transcriptLines builds the lines of a transcript; each has a time one second after the one before.
type transcriptLines []string

func (b transcriptLines) with(format string, args ...any) transcriptLines {
	fields := fmt.Sprintf(format, args...)
	return append(b, fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,%s,"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/w","version":"2.1.197","entrypoint":"cli"}`, fields, len(b)))
}

func (b transcriptLines) prompt(text string) transcriptLines {
	return b.with(`"type":"user","message":{"role":"user","content":%q}`, text)
}

func (b transcriptLines) says(stop string) transcriptLines {
	return b.with(`"message":{"model":"m","content":[{"type":"text","text":"words"}],"stop_reason":%s},"type":"assistant"`, stop)
}

func (b transcriptLines) calls(id, tool string) transcriptLines {
	return b.with(`"message":{"model":"m","content":[{"type":"tool_use","id":%q,"name":%q,"input":{}}],"stop_reason":"tool_use"},"type":"assistant"`, id, tool)
}

func (b transcriptLines) answers(id string) transcriptLines {
	return b.with(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, id)
}

func (b transcriptLines) system(subtype string) transcriptLines {
	return b.with(`"type":"system","subtype":%q`, subtype)
}

func (b transcriptLines) meta(text string) transcriptLines {
	return b.with(`"type":"user","message":{"role":"user","content":%q},"isMeta":true`, text)
}

func (b transcriptLines) synthetic(fields string) transcriptLines {
	return b.with(`"message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}],"stop_reason":"stop_sequence"},"type":"assistant"%s`, fields)
}

func (b transcriptLines) note(line string) transcriptLines { return append(b, line) }

func TestTurn(t *testing.T) {
	asked := transcriptLines{}.prompt("do it")
	done := asked.says(`"end_turn"`)
	failed := asked.synthetic(`,"isApiErrorMessage":true`)
	cut := asked.prompt("[Request interrupted by user]")
	for _, c := range []struct {
		name   string
		lines  transcriptLines
		state  discover.TurnState
		detail string
	}{
		{"asked", asked, discover.TurnOpen, ""},
		{"answered", done, discover.TurnDone, ""},
		{"asked again", done.prompt("more"), discover.TurnOpen, ""},
		{"cut by a limit", asked.says(`"max_tokens"`), discover.TurnDone, ""},
		{"streaming, or all of the answer", asked.says(`null`), discover.TurnUnknown, ""},
		{"streaming a call", asked.with(`"message":{"model":"m","content":[{"type":"thinking","thinking":"x"}],"stop_reason":null},"type":"assistant"`), discover.TurnOpen, ""},
		{"the prompt stored again", transcriptLines{}.with(`"uuid":"u","type":"user","message":{"content":"hi"}`).
			note(`{"parentUuid":"u","uuid":"v","message":{"model":"m","content":[],"stop_reason":"end_turn"},"type":"assistant","timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w"}`).
			with(`"uuid":"u","type":"user","message":{"content":"hi"}`).with(`"uuid":"u","type":"user","message":{"content":"hi"}`), discover.TurnDone, ""},
		{"before its call", asked.says(`"tool_use"`), discover.TurnOpen, ""},
		{"calling", asked.says(`"tool_use"`).calls("1", "Bash"), discover.TurnOpen, "tool: Bash"},
		{"two calls", asked.calls("1", "Bash").calls("2", "Edit"), discover.TurnOpen, "tool: Bash, Edit"},
		{"two calls, one answered", asked.calls("1", "Bash").calls("2", "Edit").answers("2"), discover.TurnOpen, "tool: Bash"},
		{"calls answered", asked.calls("1", "Bash").answers("1"), discover.TurnOpen, ""},
		{"only the last message's calls count", asked.calls("0", "Read").prompt("again").calls("1", "Bash"), discover.TurnOpen, "tool: Bash"},
		{"calls numbered anew in each answer", asked.calls("0", "Read").answers("0").calls("0", "Bash"), discover.TurnOpen, "tool: Bash"},
		{"TUI, over", done.system("turn_duration"), discover.TurnDone, ""},
		{"failed", failed, discover.TurnFailed, ""},
		{"TUI, failed", failed.system("turn_duration"), discover.TurnFailed, ""},
		{"failed, then a local command", failed.system("local_command"), discover.TurnFailed, ""},
		{"interrupted", cut, discover.TurnInterrupted, ""},
		{"interrupted in a tool", asked.calls("1", "Bash").answers("1").prompt("[Request interrupted by user for tool use]"), discover.TurnInterrupted, ""},
		{"notes after", done.note(`{"type":"last-prompt","lastPrompt":"x"}`).note(`{"type":"mode","mode":"normal"}`), discover.TurnDone, ""},
		{"unknown records after", done.with(`"type":"from-the-future"`).note(`{"kind":7}`).note(`[1]`).note(""), discover.TurnDone, ""},
		{"damaged record after", done.note(`{"type":"user",`), discover.TurnUnknown, ""},
		{"damaged record before", asked.note("nonsense").says(`"end_turn"`), discover.TurnDone, ""},
		{"damaged, but over", done.note("nonsense").system("turn_duration"), discover.TurnDone, ""},
		{"a reminder after", done.meta("<system-reminder>\nx"), discover.TurnDone, ""},
		{"local command after", done.prompt("<command-name>/model</command-name>").prompt("<local-command-stdout>ok</local-command-stdout>"), discover.TurnDone, ""},
		{"a slash command that asks the model", done.prompt("<command-name>/review</command-name>").meta("Review the code"), discover.TurnOpen, ""},
		{"a shell command that the model is to answer", done.prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>"), discover.TurnOpen, ""},
		{"with nothing before it", transcriptLines{}.prompt("<bash-input>ls</bash-input>").prompt("<bash-stderr>x</bash-stderr>"), discover.TurnOpen, ""},
		{"and does", done.prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>").says(`"end_turn"`), discover.TurnDone, ""},
		{"killed meanwhile, then a slash command", done.prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>").
			meta("<local-command-caveat>").prompt("<command-name>/model</command-name>").prompt("<local-command-stdout>ok</local-command-stdout>"), discover.TurnInterrupted, ""},
		{"a shell command that the model is not to answer", done.meta("<local-command-caveat>Caveat: x").prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>"), discover.TurnDone, ""},
		{"in old words", done.meta("Caveat: x").prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>"), discover.TurnDone, ""},
		{"with nothing before that", transcriptLines{}.meta("<local-command-caveat>Caveat: x").prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>"), discover.TurnNone, ""},
		{"killed, then such a shell command", asked.meta("<local-command-caveat>x").prompt("<bash-input>ls</bash-input>").prompt("<bash-stdout>x</bash-stdout>"), discover.TurnInterrupted, ""},
		{"killed, resumed, left", asked.calls("1", "Bash").synthetic(""), discover.TurnInterrupted, ""},
		{"killed, then a local command", asked.system("local_command"), discover.TurnInterrupted, ""},
		{"only /clear", transcriptLines{}.meta("<local-command-caveat>").prompt("<command-name>/clear</command-name>").system("local_command"), discover.TurnNone, ""},
		{"compacted", done.system("compact_boundary").with(`"type":"user","message":{"role":"user","content":"This session…"},"isCompactSummary":true`).
			prompt("<command-name>/compact</command-name>").prompt("<local-command-stdout>Compacted"), discover.TurnDone, ""},
		{"compacted in the middle of a turn", asked.calls("1", "Bash").answers("1").system("compact_boundary").
			with(`"type":"user","message":{"role":"user","content":"This session…"},"isCompactSummary":true`), discover.TurnOpen, ""},
		{"a finished command reports", done.prompt("<task-notification>\n<task-id>x</task-id>"), discover.TurnOpen, ""},
		{"a sub-agent's records between (2.0.x)", done.note(`{"parentUuid":null,"isSidechain":true,"type":"user","message":{"content":"sub"},"timestamp":"2026-01-01T00:09:00.000Z","cwd":"/w"}`), discover.TurnDone, ""},
		{"first write out of order", transcriptLines{}.
			note(`{"parentUuid":"b","isSidechain":false,"message":{"model":"m","content":[],"stop_reason":"end_turn"},"type":"assistant","timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w"}`).
			note(`{"parentUuid":"c","isSidechain":false,"type":"system","subtype":"turn_duration","timestamp":"2026-01-01T00:00:03.000Z","cwd":"/w"}`).
			note(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"content":"hi"},"timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w"}`), discover.TurnDone, ""},
		{"rewound to the beginning", done.
			note(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"content":"anew"},"timestamp":"2026-01-01T00:01:00.000Z","cwd":"/w"}`), discover.TurnOpen, ""},
		{"1.0 wrote no reason to stop", transcriptLines{}.
			note(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"content":"hi"},"timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w","version":"1.0.1"}`).
			note(`{"parentUuid":"x","isSidechain":false,"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"x"}],"stop_reason":null},"timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w","version":"1.0.1"}`), discover.TurnUnknown, ""},
	} {
		dir := t.TempDir()
		writeTranscript(t, dir, strings.Join(c.lines, "\n")+"\n")
		got, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
		if len(got) != 1 || len(warned) > 0 && !strings.HasPrefix(c.name, "damaged") {
			t.Errorf("%s: %d records, %v", c.name, len(got), warned)
			continue
		}
		if turn := got[0].Turn; turn.State != c.state || turn.Detail != c.detail {
			t.Errorf("%s: state %d (%q), want %d (%q)", c.name, turn.State, turn.Detail, c.state, c.detail)
		}
	}
}

// writeTranscript makes one session, alive, in a home.
func writeTranscript(t testing.TB, dir, content string) string {
	t.Helper()
	path := transcriptPath(dir, "/w", alive)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	_ = os.Remove(path) // some file systems sync a file that is emptied and written again
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
