package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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
			must(t, os.MkdirAll(filepath.Dir(at), 0o700))
			must(t, os.WriteFile(at+transcriptSuffix, []byte(strings.ReplaceAll(minimal+c.sub, `"isSidechain":false`, `"isSidechain":true`)), 0o600))
			must(t, os.WriteFile(at+metaSuffix, []byte(`{"agentType":"a","toolUseId":"4"}`), 0o600))
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
				must(t, err)
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
