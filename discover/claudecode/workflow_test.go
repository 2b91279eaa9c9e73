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
)

// The sub-agents of a workflow are in folders further down. Their notes do not say how they end, the run's own does.
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
	for name, c := range map[string]struct {
		note, text string
		over       bool
		claimed    bool
		turn       discover.TurnState
	}{
		"at work (2.1.197)":     {`{"agentType":"workflow-subagent","spawnDepth":1}`, atWork, false, true, discover.TurnOpen},
		"at work (2.1.329)":     {`{"agentType":"workflow-subagent","requestShape":"foreground"}`, atWork, false, true, discover.TurnOpen},
		"it has answered":       {`{"agentType":"workflow-subagent","requestShape":"foreground"}`, answered, false, false, discover.TurnDone},
		"the run was cut short": {`{"agentType":"workflow-subagent","requestShape":"foreground"}`, atWork, true, false, discover.TurnOpen},
	} {
		dir := t.TempDir()
		transcript := writeTranscript(t, dir, minimal)
		writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"%d","version":"2.1.329","status":"busy"`, alive, began))
		put := func(content string, names ...string) string {
			path := filepath.Join(strings.TrimSuffix(transcript, suffix), filepath.Join(names...))
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(content), 0o600))
			return path
		}
		path := put(c.text, subagents, "workflows", run, "agent-a1"+suffix)
		put(c.note, subagents, "workflows", run, "agent-a1"+aboutSuffix)
		put(`{"type":"launched"}`+"\n", subagents, "workflows", run, "journal.jsonl")
		put("export const meta = {}\n", "workflows", "scripts", "x-"+run+".js")
		if c.over {
			put(`{"status":"completed"}`, "workflows", run+".json")
		}
		f := native329(300, began, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		got := sessions(claims(t, dir, f))
		if claimed := len(got) == 2 && got[1].Session == "agent-a1" && got[1].Path == path; claimed != c.claimed || !claimed && len(got) != 1 {
			t.Errorf("%s: claims %+v", name, got)
		}
		for _, q := range []discover.Query{
			{Children: true},
			{ID: "agent-a1", Children: true},
			{ID: "agent-a1", Children: true, Untimed: true},
			{Parents: []discover.Ref{{ID: alive, Path: transcript}}, Children: true},
			{Refs: []discover.Ref{{ID: "agent-a1", Path: path}}, Children: true},
		} {
			found, _ := records(t, dir, q, discover.Want{})
			n := 0
			for _, r := range found {
				if r.ID != "agent-a1" {
					continue
				}
				n++
				if r.Path != path || r.Parent != alive || r.Turn.State != c.turn || r.Prompt != "look at it" || r.Meta.Get("workflow") != run {
					t.Errorf("%s, %+v: %+v", name, q, r)
				}
			}
			if n != 1 {
				t.Errorf("%s, %+v: found %d times", name, q, n)
			}
		}
		whole, _ := records(t, dir, discover.Query{ID: alive}, discover.Want{Tokens: true})
		if len(whole) != 1 || whole[0].Tokens == nil || whole[0].Tokens.In < 70 {
			t.Errorf("%s: what the session has used is %+v", name, whole)
		}
		if watched := (Adapter{}).Watch(discover.Session{Record: &discover.Record{ID: alive, Path: transcript, Home: dir}}); !slices.Contains(watched, filepath.Dir(path)) {
			t.Errorf("%s: nobody watches %s", name, filepath.Dir(path))
		}
	}
}
