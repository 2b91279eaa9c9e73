package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
)

// A background sub-agent is carried over when its process changes to another session: at first with its metadata alone, or
// nothing, then with a file that continues where the first one ends (2.1.329).
func TestSubagentCarriedOver(t *testing.T) {
	const began, left = 1000, "10000000-0000-4000-8000-000000000000"
	record := func(second int, parent, kind, message string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":true,"type":%q,"message":{"role":%q,%s},"timestamp":%q,"cwd":"/w"}`+"\n",
			parent, kind, kind, message, bootTime.Add(time.Duration(second)*time.Second).UTC().Format(time.RFC3339Nano))
	}
	call := `"model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash"}]`
	before := record(12, "null", "user", `"content":"do it"`) + record(13, `"p"`, "assistant", call)
	result := record(14, `"p"`, "user", `"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]`)
	answer := record(15, `"p"`, "assistant", `"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]`)
	const note = `{"description":"a task","toolUseId":"x","requestShape":"background"}`
	for name, c := range map[string]struct {
		note, text string
		claimed    bool
		turn       discover.TurnState
	}{
		"with its note":           {note, "", true, discover.TurnOpen},
		"at work, with its note":  {note, result, true, discover.TurnOpen},
		"at work without one":     {"", result, true, discover.TurnOpen},
		"left when it had ended":  {note[:len(note)-1] + `,"finished":true}`, "", false, discover.TurnOpen},
		"finished":                {note[:len(note)-1] + `,"finished":true}`, result + answer, false, discover.TurnDone},
		"finished without a note": {"", result + answer, false, discover.TurnDone},
	} {
		dir := t.TempDir()
		now := writeTranscript(t, dir, minimal)
		writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"%d","version":"2.1.329","status":"busy"`, alive, began))
		write := func(session, suffix, content string) string {
			path := filepath.Join(filepath.Dir(now), session, subagentsName, "agent-a1"+suffix)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if content != "" {
				must(t, os.WriteFile(path, []byte(content), 0o600))
			}
			return path
		}
		first := write(left, transcriptSuffix, before)
		want := first
		must(t, os.Chtimes(want, time.Time{}, time.Now().Add(-time.Minute)))
		write(left, metaSuffix, note)
		write(alive, metaSuffix, c.note)
		if path := write(alive, transcriptSuffix, c.text); c.text != "" {
			want = path
		}
		f := native329(300, began, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got := sessions(claims(t, dir, f))
		if claimed := len(got) == 2 && got[1].Session == "agent-a1" && got[1].Path == want; claimed != c.claimed {
			t.Errorf("%s: claims %+v", name, got)
		}
		for _, q := range []discover.EntryFilter{
			{ID: "agent-a1", Subagents: true},
			{ID: "agent-a1", Subagents: true, WithoutTimes: true},
			{Refs: []discover.Ref{{ID: "agent-a1", Path: first}}, Subagents: true},
		} {
			found, _ := records(t, dir, q, discover.ReadOptions{})
			if len(found) != 1 || found[0].Path != want || found[0].Turn.State != c.turn || found[0].Prompt != "do it" ||
				found[0].Title != "a task" || !found[0].Created.Equal(bootTime.Add(12*time.Second)) {
				t.Errorf("%s: %+v", name, found)
			}
		}
	}
}
