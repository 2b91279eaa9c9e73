package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
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
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if content != "" {
				must.Do(t, os.WriteFile(path, []byte(content), 0o600))
			}
			return path
		}
		first := write(left, transcriptSuffix, before)
		want := first
		must.Do(t, os.Chtimes(want, time.Time{}, time.Now().Add(-time.Minute)))
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

// The sub-agents of a workflow are in folders below. Their metadata does not record their end; the run's file does.
func TestWorkflow(t *testing.T) {
	const began, run = 1000, "wf_8361d982-fe4"
	record := func(second int, parent, kind, message string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":true,"agentId":"a1","type":%q,"message":{"role":%q,%s},"timestamp":%q,"sessionId":%q,"cwd":"/w"}`+"\n",
			parent, kind, kind, message, bootTime.Add(time.Duration(second)*time.Second).UTC().Format(time.RFC3339Nano), alive)
	}
	const used = `"model":"m","usage":{"input_tokens":70,"output_tokens":5}`
	asked := record(12, "null", "user", `"content":"look at it"`)
	atWork := asked + record(13, `"p"`, "assistant", `"id":"m1",`+used+`,"stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash"}]`)
	answered := asked + record(14, `"p"`, "assistant", `"id":"m1",`+used+`,"stop_reason":"end_turn","content":[{"type":"text","text":"done"}]`)
	const older, note = `{"agentType":"workflow-subagent","spawnDepth":1}`, `{"agentType":"workflow-subagent","requestShape":"foreground"}`
	for name, c := range map[string]struct {
		note, text string
		over       bool
		after      time.Duration // when it was, after the last record
		claimed    bool
		turn       discover.TurnState
	}{
		"at work (2.1.197)":     {note: older, text: atWork, claimed: true, turn: discover.TurnOpen},
		"at work (2.1.329)":     {note: note, text: atWork, claimed: true, turn: discover.TurnOpen},
		"it has answered":       {note: note, text: answered, turn: discover.TurnDone},
		"the run was cut short": {note: note, text: atWork, over: true, after: time.Minute, turn: discover.TurnOpen},
		"the run was resumed":   {note: note, text: atWork, over: true, after: -time.Minute, claimed: true, turn: discover.TurnOpen},
	} {
		dir := t.TempDir()
		transcript := writeTranscript(t, dir, minimal)
		writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"%d","version":"2.1.329","status":"busy"`, alive, began))
		put := func(content string, names ...string) string {
			path := filepath.Join(strings.TrimSuffix(transcript, transcriptSuffix), filepath.Join(names...))
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte(content), 0o600))
			return path
		}
		path := put(c.text, subagentsName, "workflows", run, "agent-a1"+transcriptSuffix)
		put(c.note, subagentsName, "workflows", run, "agent-a1"+metaSuffix)
		put(`{"type":"launched"}`+"\n", subagentsName, "workflows", run, "journal.jsonl")
		put("export const meta = {}\n", "workflows", "scripts", "x-"+run+".js")
		if c.over {
			end := put(`{"status":"completed"}`, "workflows", run+".json")
			must.Do(t, os.Chtimes(end, time.Time{}, time.Now().Add(c.after)))
		}
		f := native329(300, began, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got := sessions(claims(t, dir, f))
		if claimed := len(got) == 2 && got[1].Session == "agent-a1" && got[1].Path == path; claimed != c.claimed || !claimed && len(got) != 1 {
			t.Errorf("%s: claims %+v", name, got)
		}
		for _, q := range []discover.EntryFilter{
			{Subagents: true},
			{Parents: []discover.Ref{{ID: alive, Path: transcript}}, Subagents: true},
			{Refs: []discover.Ref{{ID: "agent-a1", Path: path}}, Subagents: true},
		} {
			found, _ := records(t, dir, q, discover.ReadOptions{})
			n := 0
			for _, r := range found {
				if r.ID != "agent-a1" {
					continue
				}
				n++
				if r.Path != path || r.Parent != alive || r.Turn.State != c.turn || r.Prompt != "look at it" || r.Meta["workflow"] != run {
					t.Errorf("%s, %+v: %+v", name, q, r)
				}
			}
			if n != 1 {
				t.Errorf("%s, %+v: found %d times", name, q, n)
			}
		}
		whole, _ := records(t, dir, discover.EntryFilter{ID: alive}, discover.ReadOptions{Tokens: true})
		if len(whole) != 1 || whole[0].Tokens == nil || whole[0].Tokens.In < 70 {
			t.Errorf("%s: what the session has used is %+v", name, whole)
		}
		if watched := (Adapter{}).WatchPaths(t.Context(), discover.Session{Record: &discover.Record{ID: alive, Path: transcript, Home: dir}}); !slices.Contains(watched, filepath.Dir(path)) {
			t.Errorf("%s: nobody watches %s", name, filepath.Dir(path))
		}
	}
}

// A workflow's sub-agent that was carried over to another session is at the same place there.
func TestWorkflowCarriedOver(t *testing.T) {
	const left = "10000000-0000-4000-8000-000000000000"
	dir := t.TempDir()
	project := filepath.Dir(writeTranscript(t, dir, minimal))
	record := `{"parentUuid":null,"isSidechain":true,"type":"user","message":{"role":"user","content":"look"},"timestamp":"2026-11-22T10:00:00Z","cwd":"/w"}` + "\n"
	place := func(session string) string {
		return filepath.Join(project, session, subagentsName, "workflows", "wf_1", "agent-a1"+transcriptSuffix)
	}
	for session, age := range map[string]time.Duration{left: time.Hour, alive: time.Minute} {
		must.Do(t, os.MkdirAll(filepath.Dir(place(session)), 0o700))
		must.Do(t, os.WriteFile(place(session), []byte(record), 0o600))
		must.Do(t, os.Chtimes(place(session), time.Time{}, time.Now().Add(-age)))
	}
	begun := []discover.Ref{{ID: "agent-a1", Path: place(left)}}
	if found, _ := records(t, dir, discover.EntryFilter{Refs: begun, Subagents: true}, discover.ReadOptions{}); len(found) != 1 || found[0].Path != place(alive) {
		t.Errorf("%+v", found)
	}
}
