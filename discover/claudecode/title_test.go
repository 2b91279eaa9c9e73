package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

// script is a transcript under construction: each method appends to it.
type script struct{ strings.Builder }

func (t *script) note(format string, args ...any) *script {
	fmt.Fprintf(t, format+"\n", args...)
	return t
}

func (t *script) titled(title string) *script {
	return t.note(`{"type":"custom-title","customTitle":"%s","sessionId":"s"}`, title)
}

func (t *script) agentTitled(title string) *script {
	return t.note(`{"type":"ai-title","aiTitle":"%s","sessionId":"s"}`, title)
}

func (t *script) left(prompt string) *script {
	return t.note(`{"type":"last-prompt","lastPrompt":"%s","leafUuid":"u","sessionId":"s"}`, prompt)
}

// settings appends those of a terminal.
func (t *script) settings() *script {
	return t.note(`{"type":"mode","mode":"normal","sessionId":"s"}`).note(`{"type":"permission-mode","permissionMode":"default","sessionId":"s"}`)
}

func (t *script) checkpoint() *script {
	return t.note(`{"type":"last-prompt","leafUuid":"u","explicit":true,"sessionId":"s"}`)
}

// record appends one of a terminal's session, or of a print run's.
func (t *script) record(entrypoint, kind, message string) *script {
	return t.note(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":%s,"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","entrypoint":"%s","cwd":"/w","version":"2.1.330"}`, kind, message, entrypoint)
}

func (t *script) asked(entrypoint, prompt string) *script {
	return t.record(entrypoint, "user", fmt.Sprintf(`{"role":"user","content":"%s"}`, prompt))
}

// worked appends so many kilobytes of answers, the last of which ends the turn.
func (t *script) worked(entrypoint string, kilobytes int) *script {
	text := strings.Repeat("word ", 160)
	for n := range kilobytes {
		stop := "tool_use"
		if n == kilobytes-1 {
			stop = "end_turn"
		}
		t.record(entrypoint, "assistant", fmt.Sprintf(`{"id":"m%d","model":"m","role":"assistant","content":[{"type":"text","text":"%s"}],"stop_reason":"%s"}`, n, text, stop))
	}
	return t
}

// TestTitlesOfLongSessions: a quick read finds the same title as a whole read, wherever Claude Code writes its metadata
// anew.
func TestTitlesOfLongSessions(t *testing.T) {
	const tui, print = "cli", "sdk-cli"
	begun := func(entrypoint string) *script {
		return new(script).agentTitled("agent's").asked(entrypoint, "one").worked(entrypoint, 60)
	}
	for name, c := range map[string]struct {
		content *script
		want    string
	}{
		"left 27 KB later":             {begun(tui).titled("person's").worked(tui, 27).left("one"), "person's"},
		"left, and opened again":       {begun(tui).titled("person's").worked(tui, 27).left("one").note(`{"type":"mode","mode":"normal"}`), "person's"},
		"killed 55 KB later":           {begun(tui).titled("person's").worked(tui, 55), "person's"},
		"killed behind a checkpoint":   {begun(tui).titled("person's").worked(tui, 55).checkpoint(), "person's"},
		"the agent's, later":           {begun(tui).titled("person's").agentTitled("newer").worked(tui, 20).left("one"), "person's"},
		"the user's, before all":       {new(script).titled("person's").asked(tui, "one").worked(tui, 90).agentTitled("agent's").left("one"), "person's"},
		"taken away":                   {begun(tui).titled("person's").worked(tui, 10).titled("").worked(tui, 20).left("one"), "agent's"},
		"stated in a turn":             {begun(tui).titled("person's").worked(tui, 40).left("one").titled("person's").settings().worked(tui, 20).left("one"), "person's"},
		"stated in a turn, nameless":   {begun(tui).worked(tui, 40).left("one").settings().worked(tui, 20).left("one"), "agent's"},
		"left, and gone on with":       {begun(tui).titled("person's").worked(tui, 5).left("one").settings().asked(tui, "two").worked(tui, 15).left("two"), "person's"},
		"a checkpoint in a turn":       {begun(tui).titled("person's").worked(tui, 5).checkpoint().worked(tui, 15).left("one"), "person's"},
		"a print run goes on":          {begun(tui).titled("person's").asked(print, "two").worked(print, 20).left("two"), "person's"},
		"print runs, named in between": {begun(print).titled("person's").asked(print, "two").worked(print, 20).left("two"), "person's"},
		"one print run":                {new(script).titled("person's").asked(print, `one\nline`).worked(print, 200).left("one line"), "person's"},
		"nobody's":                     {new(script).asked(tui, "one").worked(tui, 90).left("one"), ""},
	} {
		dir := filepath.Join(t.TempDir(), ".claude")
		path := transcriptPath(dir, "/w", alive)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(c.content.String()), 0o600))
		for _, want := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true}} {
			if got, _ := records(t, dir, discover.EntryFilter{}, want); len(got) != 1 {
				t.Errorf("%s, %+v: %d records", name, want, len(got))
			} else if got[0].Title != c.want {
				t.Errorf("%s, %+v: %q, want %q", name, want, got[0].Title, c.want)
			}
		}
	}
}
