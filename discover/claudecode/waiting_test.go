package claudecode

import (
	"bytes"
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

// Every status that real registry entries had over time is understood.
func TestStatusOfRealEntries(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(fixtures, "registry-snapshots.jsonl"))
	must.Do(t, err)
	want := map[string]discover.TurnState{
		"busy": discover.TurnOpen, "waiting": discover.TurnWaiting, "idle": discover.TurnDone, "shell": discover.TurnDone,
	}
	seen := map[string]int{}
	for line := range bytes.Lines(raw) {
		e, err := parseRegistryEntry(line)
		must.Do(t, err)
		e.path = "x"
		x := &process{entry: e}
		turn := x.liveTurn(t.Context(), "")
		state, known := want[e.Status]
		if !known {
			state = discover.TurnNone // just registered: a TUI that was asked nothing
		}
		if !known && e.Kind == "bg" { // just registered, with a prompt to come
			if turn != nil {
				t.Errorf("%s: %+v", line, turn)
			}
		} else if turn == nil || turn.State != state {
			t.Errorf("%s: %+v", line, turn)
		}
		if got := x.newClaim().Meta["backgroundShell"] == true; got != (e.Status == "shell") {
			t.Errorf("%s: backgroundShell %v", line, got)
		}
		seen[e.Status+e.WaitingFor]++
	}
	for _, status := range []string{"", "busy", "idle", "shell", "waitingpermission prompt", "waitingdialog open"} {
		if seen[status] == 0 {
			t.Errorf("no entry with %q", status)
		}
	}
}

func TestWaitingFor(t *testing.T) {
	question := filepath.Join(fixtures, "21-question-waiting-2.1.329/projects/-srv-lab-w-q329/e1b60b53-4157-4c6d-b1cb-22a78e2c28f6.jsonl")
	tool := filepath.Join(fixtures, "04-tui-sigkill-stale-registry-2.1.197/projects/-srv-claude-lab-w-st-KILL/ae6e46be-1218-4de8-a4ed-15400c6b7a7a.jsonl")
	const asked = "Which?"
	for _, c := range []struct{ word, path, want, on, brief string }{
		{"permission prompt", tool, "permission", "Bash", "sleep 53"},
		{"permission prompt", question, "question", "AskUserQuestion", asked},
		{"permission prompt", "", "permission", "", ""},
		{"approve Bash", tool, "permission", "Bash", "sleep 53"},
		{"approve AskUserQuestion", question, "question", "AskUserQuestion", asked},
		{"input needed", question, "question", "AskUserQuestion", asked},
		{"input needed", tool, "input needed", "", ""},
		{"dialog open", question, "dialog open", "", ""},
	} {
		turn := (&process{entry: registryEntry{WaitingFor: c.word}}).waitingTurn(t.Context(), c.path)
		if turn.WaitingFor != c.want {
			t.Errorf("%q, %s: %q, want %q", c.word, filepath.Base(c.path), turn.WaitingFor, c.want)
		}
		if on := turn.WaitingOn; (on != nil) != (c.on != "") || on != nil && (on.Tool != c.on || on.Brief != c.brief) {
			t.Errorf("%q, %s: on %+v", c.word, filepath.Base(c.path), on)
		}
		if on := turn.WaitingOn; c.on == "AskUserQuestion" && (on == nil || len(on.Questions) != 1 || on.Questions[0] != asked) {
			t.Errorf("%q: questions of %+v", c.word, on)
		}
	}
}

// A print run that reads its prompts from a stream is idle between them. One that got its only prompt is not, though its
// registry entry says so before the turn begins (2.1.329).
func TestStreamingPrintRun(t *testing.T) {
	dir := t.TempDir()
	for _, status := range []string{"", `,"status":"idle"`} {
		writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329"`+status, alive))
		raw, err := os.ReadFile(registryPath(dir, 300))
		must.Do(t, err)
		must.Do(t, os.WriteFile(registryPath(dir, 300), bytes.Replace(raw, []byte(`"cli"`), []byte(`"sdk-cli"`), 1), 0o600))
		for args, open := range map[string]bool{"-p --": true, "-p --input-format stream-json": false, "-p --input-format=stream-json": false} {
			f := native329(300, 1000, dir, "/w", strings.Fields(args)...)
			f.Environ = map[string]string{configKey: dir}
			got := sessions(claims(t, dir, f))
			if len(got) != 1 || got[0].Source != "print" || (got[0].Turn != nil && got[0].Turn.State == discover.TurnOpen) != open {
				t.Errorf("%s%s: %+v", args, status, got)
			}
		}
	}
}

// A sub-agent runs in its parent's process while the call that started it has no result, and only then.
func TestSubagentRunsDuringItsCall(t *testing.T) {
	dir := home(t, "03-tui-live-clear-resume-compact-subagent-2.1.197")
	path := filepath.Join(dir, "projects/-srv-claude-lab-w-tui1", tui1+transcriptSuffix)
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	call := bytes.Index(whole, []byte(`"id":"toolu_mock1795202051470_0"`))
	during := whole[:call+bytes.IndexByte(whole[call:], '\n')+1]
	entry, err := os.ReadFile(registryPath(dir, 23113))
	must.Do(t, err)
	own := native329(23113, 80645, dir, "/srv/claude-lab/w/tui1")
	for _, c := range []struct {
		name, status string
		content      []byte
		agents       int
	}{
		{"at work", "busy", during, 1}, {"idle", "idle", during, 0}, {"answered", "busy", whole, 0},
	} {
		must.Do(t, os.WriteFile(path, c.content, 0o600))
		must.Do(t, os.WriteFile(registryPath(dir, 23113), bytes.Replace(entry, []byte(`"idle"`), []byte(`"`+c.status+`"`), 1), 0o600))
		got := sessions(claims(t, dir, own))
		if len(got) != 1+c.agents {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		if c.agents == 1 && (got[1].Session != "agent-a1ee3db089f2b2292" || got[1].Turn.State != discover.TurnOpen || got[1].Process != own.ID) {
			t.Errorf("%s: %+v", c.name, got[1])
		}
	}
}

// A background sub-agent runs in its parent's process until its transcript or its metadata records its end, whether the
// parent waits or not. Those that an earlier process started have ended with it (metadata as of 2.1.329).
func TestSubagentInTheBackground(t *testing.T) {
	const began = 1000 // ticks: ten seconds after the boot
	record := func(second int, kind, message string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":true,"type":%q,"message":{"role":%q,%s},"timestamp":%q,"cwd":"/w"}`+"\n",
			kind, kind, message, bootTime.Add(time.Duration(second)*time.Second).UTC().Format(time.RFC3339Nano))
	}
	asked := func(second int) string { return record(second, "user", `"content":"do it"`) }
	calls := record(13, "assistant", `"model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash"}]`)
	answers := record(14, "assistant", `"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]`)
	cut := record(14, "user", `"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]`)
	const shape = `"agentType":"a","toolUseId":"x","requestShape":"background"`
	for name, c := range map[string]struct {
		note, text string
		want       int
	}{
		"asked":                {shape, asked(12), 1},
		"at work":              {shape, asked(12) + calls, 1},
		"answered":             {shape, asked(12) + calls + answers, 0},
		"finished":             {shape + `,"finished":true`, asked(12) + calls, 0},
		"stopped":              {shape + `,"stoppedByUser":true`, asked(12) + calls, 0},
		"cut":                  {shape, asked(12) + calls + cut, 0},
		"an earlier process's": {shape, asked(9), 0},
		"an older version's":   {`"agentType":"a","toolUseId":"x"`, asked(12) + calls, 0},
		"without a note":       {"", asked(12) + calls, 0},
	} {
		for _, status := range []string{"busy", "idle"} {
			dir := t.TempDir()
			parent := writeTranscript(t, dir, minimal)
			writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"%d","version":"2.1.329","status":%q`, alive, began, status))
			at := filepath.Join(strings.TrimSuffix(parent, transcriptSuffix), subagentsName, "agent-a1")
			must.Do(t, os.MkdirAll(filepath.Dir(at), 0o700))
			must.Do(t, os.WriteFile(at+transcriptSuffix, []byte(c.text), 0o600))
			if c.note != "" {
				must.Do(t, os.WriteFile(at+metaSuffix, []byte("{"+c.note+"}"), 0o600))
			}
			f := native329(300, began, dir, "/w")
			f.Environ = map[string]string{configKey: dir}
			got := sessions(claims(t, dir, f))
			if len(got) != 1+c.want || c.want == 1 && (got[1].Session != "agent-a1" || got[1].Kind != "sub-agent" || got[1].Turn.State != discover.TurnOpen || got[1].Dir != "") {
				t.Errorf("%s, parent %s: %+v", name, status, got)
			}
		}
	}
}

// A background session's job file names the session until it has another name.
func TestBackgroundJob(t *testing.T) {
	dir := t.TempDir()
	writeTranscript(t, dir, strings.ReplaceAll(minimal, `"cwd":`, `"sessionKind":"bg","cwd":`))
	job := filepath.Join(dir, "jobs", alive[:jobIDLen])
	must.Do(t, os.MkdirAll(job, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(job, "state.json"), fmt.Appendf(nil, `{"sessionId":%q,"state":"done","name":"job"}`, alive), 0o600))
	got, _ := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
	if len(got) != 1 || got[0].Turn.State != discover.TurnOpen || got[0].Source != "bg" || got[0].Meta["jobId"] != alive[:jobIDLen] || got[0].Title != "job" {
		t.Errorf("%+v", got)
	}
}

// The user is asked about one call at a time. The call is named only if it is certain which one it is.
func TestPermissionCall(t *testing.T) {
	call := func(id, tool, input string) string {
		return fmt.Sprintf(`{"type":"assistant","isSidechain":false,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`+"\n", id, tool, input)
	}
	rm, edit := call("1", "Bash", `{"command":"rm -rf build","description":"d"}`), call("2", "Edit", `{"file_path":"/w/a.go","old_string":"a"}`)
	fetch, agent := call("3", "WebFetch", `{"url":"https://example.org"}`), call("4", "Agent", `{"description":"look","prompt":"p"}`)
	answer := `{"type":"user","isSidechain":false,"timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}}` + "\n"
	for _, c := range []struct{ name, text, sub, want string }{
		{"a command", rm, "", "Bash: rm -rf build ()"},
		{"a file", edit, "", "Edit: /w/a.go (/w/a.go)"},
		{"the first of two", rm + edit, "", "Bash: rm -rf build ()"},
		{"the second, once the first is done", rm + edit + answer, "", "Edit: /w/a.go (/w/a.go)"},
		{"a page", fetch, "", "WebFetch: https://example.org ()"},
		{"one that runs beside others", fetch + rm, "", ""},
		{"a sub-agent's", agent, rm, "Bash: rm -rf build ()"},
		{"a command, while a sub-agent in the background may ask", rm, strings.ReplaceAll(edit, "2026-01", "2027-01"), ""},
		{"a sub-agent of which nothing is known", agent, "", ""},
		{"a sub-agent that runs beside others", agent + fetch, rm, ""},
		{"a long one", call("1", "Bash", `{"command":"`+strings.Repeat("é", 300)+`"}`), "", "Bash: " + strings.Repeat("é", 199) + "… ()"},
		{"none", "", "", ""},
		{"an edit", call("1", "Edit", `{"file_path":"/w/a.go","old_string":"a\nb","new_string":"a\nc\nd"}`), "", "Edit: /w/a.go (/w/a.go) +2 -1"},
		{"an edit of each occurrence", call("1", "Edit", `{"file_path":"/w/a.go","old_string":"a","new_string":"b","replace_all":true}`), "", "Edit: /w/a.go (/w/a.go)"},
		{"two edits", call("1", "MultiEdit", `{"file_path":"/w/a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}`), "", "MultiEdit: /w/a.go (/w/a.go) +1 -2"},
		{"a file", call("1", "Write", `{"file_path":"/w/a.go","content":"a\nb\n"}`), "", "Write: /w/a.go (/w/a.go) +2"},
	} {
		dir := t.TempDir()
		path := writeTranscript(t, dir, minimal+c.text)
		if c.sub != "" {
			at := filepath.Join(strings.TrimSuffix(path, transcriptSuffix), subagentsName, "agent-a1")
			must.Do(t, os.MkdirAll(filepath.Dir(at), 0o700))
			must.Do(t, os.WriteFile(at+transcriptSuffix, []byte(strings.ReplaceAll(minimal+c.sub, `"isSidechain":false`, `"isSidechain":true`)), 0o600))
			must.Do(t, os.WriteFile(at+metaSuffix, []byte(`{"agentType":"a","toolUseId":"4","requestShape":"background"}`), 0o600))
		}
		writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329","status":"waiting","waitingFor":"permission prompt"`, alive))
		f := native329(300, 1000, dir, "/w")
		f.Environ = map[string]string{configKey: dir}
		turn := sessions(claims(t, dir, f))[0].Turn
		got := ""
		if turn.WaitingOn != nil {
			got = fmt.Sprintf("%s: %s (%s)", turn.WaitingOn.Tool, turn.WaitingOn.Brief, turn.WaitingOn.Path)
			if d := turn.WaitingOn.Diff; d != nil {
				if got += fmt.Sprintf(" +%d", d.Added); d.Removed != nil {
					got += fmt.Sprintf(" -%d", *d.Removed)
				}
			}
		}
		if turn.WaitingFor != "permission" || got != c.want {
			t.Errorf("%s: waiting for %s, %q, want %q", c.name, turn.WaitingFor, got, c.want)
		}
	}
}

// A TUI's first write may put any of the records of the first turn before the prompt (SEEN 2.1.197, a Read and an Edit): the call
// without a result is pending wherever it is, and the one with a result is done.
func TestFirstWriteOutOfOrder(t *testing.T) {
	at := func(n int, parent, fields string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,%s,"uuid":"u%d","timestamp":"2026-11-26T19:04:38.%03dZ","cwd":"/w","version":"2.1.197","entrypoint":"cli"}`+"\n", parent, fields, n, n)
	}
	says := func(n int, id, stop, block string) string {
		return at(n, fmt.Sprintf(`"u%d"`, n-1), fmt.Sprintf(`"message":{"id":%q,"model":"m","content":[%s],"stop_reason":%q},"type":"assistant"`, id, block, stop))
	}
	prompt := at(0, "null", `"type":"user","message":{"role":"user","content":"edit it"}`)
	const text = `{"type":"text","text":"I use a tool."}`
	first := []string{
		says(1, "msg_1", "tool_use", text),
		says(2, "msg_1", "tool_use", `{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/w/a"}}`),
		at(3, `"u2"`, `"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"1"}]}`),
	}
	asking := append(slices.Clone(first), says(4, "msg_2", "tool_use", text),
		says(5, "msg_2", "tool_use", `{"type":"tool_use","id":"toolu_2","name":"Edit","input":{"file_path":"/w/a","old_string":"a","new_string":"b"}}`))
	for _, c := range []struct {
		records []string
		state   discover.TurnState
		detail  string
	}{
		{asking, discover.TurnOpen, "tool: Edit"}, {first, discover.TurnOpen, ""}, {append(first, says(4, "msg_2", "end_turn", text)), discover.TurnDone, ""},
	} {
		for end := range len(c.records) + 1 {
			for begin := range end {
				before, rest := c.records[begin:end], append(slices.Clone(c.records[:begin]), c.records[end:]...)
				dir := t.TempDir()
				path := writeTranscript(t, dir, strings.Join(append(append(slices.Clone(before), prompt), rest...), ""))
				tail, err := readTail(t.Context(), path)
				must.Do(t, err)
				if turn := tail.Turn.Result(true); turn.State != c.state || turn.Detail != c.detail {
					t.Errorf("%d to %d of %d first: turn %+v", begin, end, len(c.records), turn)
				}
				if call := tail.Turn.PermissionCall(); (call != nil) != (c.detail != "") || call != nil && call.Name != "Edit" {
					t.Errorf("%d to %d of %d first: permission for %+v", begin, end, len(c.records), call)
				}
				messages, _ := readMessages(t, path)
				for _, m := range messages {
					if m.Tool != nil && m.Tool.Name == "Read" && m.Tool.State != discover.ToolDone {
						t.Errorf("%d to %d of %d first: %+v", begin, end, len(c.records), m.Tool)
					}
				}
			}
		}
	}
}
