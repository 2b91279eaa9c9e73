package codex

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// A turn waits for the user if a call that may need approval, or a question, has been open for long.
func TestTurnWaitsForUser(t *testing.T) {
	call := func(id, name, arguments string) string {
		text, _ := json.Marshal(arguments)
		return fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{"type":"function_call","name":%q,"call_id":%q,"arguments":%s}}`, name, id, text)
	}
	settings := func(policy, more string) string {
		return strings.Replace(contextLine, `"model":"m"`, fmt.Sprintf(`"model":"m","approval_policy":%q%s`, policy, more), 1)
	}
	const escalated = `{"cmd":"touch q","sandbox_permissions":"require_escalated"}`
	answer := strings.Replace(outputLine, "c1", "c9", 1)
	usual, long := settings("on-request", `,"approvals_reviewer":"user"`), 10*time.Second
	for name, test := range map[string]struct {
		after time.Duration
		lines []string
		want  string
	}{
		"to leave the sandbox":        {long, []string{usual, call("c9", "exec_command", escalated)}, "permission"},
		"… in older versions":         {long, []string{settings("on-request", ""), call("c9", "shell_command", escalated)}, "permission"},
		"… a moment ago":              {time.Second, []string{usual, call("c9", "exec_command", escalated)}, ""},
		"… beside another call":       {long, []string{usual, call("c9", "exec_command", escalated), callLine}, "permission"},
		"… which is done":             {long, []string{usual, call("c9", "exec_command", escalated), callLine, answer}, ""},
		"… where nobody is asked":     {long, []string{settings("never", ""), call("c9", "exec_command", escalated)}, ""},
		"… where a model is asked":    {long, []string{settings("on-request", `,"approvals_reviewer":"auto_review"`), call("c9", "exec_command", escalated)}, ""},
		"… where nothing is told":     {long, []string{contextLine, call("c9", "exec_command", escalated)}, ""},
		"a patch":                     {long, []string{usual, call("c9", "apply_patch", "")}, "permission"},
		"a patch as a command":        {long, []string{usual, call("c9", "exec_command", `{"cmd":"apply_patch <<'P'\n*** Begin Patch\n"}`)}, "permission"},
		"in the sandbox":              {long, []string{usual, call("c9", "exec_command", `{"cmd":"sleep 99"}`)}, ""},
		"a tool that takes its time":  {long, []string{usual, call("c9", "wait_agent", `{}`)}, ""},
		"a question":                  {0, []string{usual, call("c9", questionTool, `{}`)}, "question"},
		"a question after a patch":    {long, []string{usual, call("c8", "apply_patch", ""), call("c9", questionTool, `{}`)}, "question"},
		"a question that is answered": {long, []string{usual, call("c9", questionTool, `{}`), answer}, ""},
	} {
		tail := endOf(t, append([]string{metaLine, startedLine, askedLine}, test.lines...)...)
		called := time.Date(2026, 11, 20, 19, 0, 5, 0, time.UTC)
		turn := tail.TurnAt(called.Add(test.after))
		want := discover.TurnOpen
		if test.want != "" {
			want = discover.TurnWaiting
		}
		if turn.State != want || turn.WaitingFor != test.want || turn.SilentSince.IsZero() != (test.want != "permission") {
			t.Errorf("%s: %+v", name, turn)
		}
		if test.want == "question" && turn.WaitingOn.Tool != questionTool {
			t.Errorf("%s: it waits on %+v", name, turn.WaitingOn)
		}
		if (turn.WaitingOn != nil) != (test.want != "") {
			t.Errorf("%s: it waits on %+v", name, turn.WaitingOn)
		}
	}
}

// What the user is asked about contains the command, the file or the questions.
func TestWaitingOn(t *testing.T) {
	for name, test := range map[string]struct {
		payload string
		want    discover.WaitingOn
	}{
		"a command": {
			`"type":"function_call","name":"exec_command","call_id":"c9","arguments":"{\"cmd\":\"rm -rf build\",\"sandbox_permissions\":\"require_escalated\"}"`,
			discover.WaitingOn{ID: "c9", Tool: "exec_command", Brief: "rm -rf build"},
		},
		"a patch": {
			`"type":"custom_tool_call","name":"apply_patch","call_id":"c9","input":"*** Begin Patch\n*** Update File: a.go\n+x\n*** End Patch"`,
			discover.WaitingOn{ID: "c9", Tool: "apply_patch", Brief: "a.go", Path: "a.go", Diff: &discover.Diff{Added: 1, Removed: new(0)}},
		},
		"a patch of several files": {
			`"type":"custom_tool_call","name":"apply_patch","call_id":"c9","input":"*** Begin Patch\n*** Update File: a.go\n+x\n-y\n-z\n*** Add File: b.go\n+w\n*** End Patch"`,
			discover.WaitingOn{ID: "c9", Tool: "apply_patch", Brief: "a.go, b.go", Diff: &discover.Diff{Added: 2, Removed: new(2)}},
		},
		"a patch that deletes a file": {
			`"type":"custom_tool_call","name":"apply_patch","call_id":"c9","input":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"`,
			discover.WaitingOn{ID: "c9", Tool: "apply_patch", Brief: "a.go", Path: "a.go"},
		},
		"a patch as a command": {
			`"type":"function_call","name":"exec_command","call_id":"c9","arguments":"{\"cmd\":\"apply_patch <<'P'\\n*** Begin Patch\\n*** Add File: b.go\\n\"}"`,
			discover.WaitingOn{ID: "c9", Tool: "exec_command", Brief: "apply_patch <<'P'\n*** Begin Patch\n*** Add File: b.go\n", Path: "b.go", Diff: &discover.Diff{Removed: new(0)}},
		},
		"questions": {
			`"type":"function_call","name":"request_user_input","call_id":"c9","arguments":"{\"questions\":[{\"id\":\"a\",\"question\":\"Which?\"},{\"id\":\"b\",\"question\":\"How?\"}]}"`,
			discover.WaitingOn{ID: "c9", Tool: questionTool, Brief: "Which?", Questions: []string{"Which?", "How?"}},
		},
	} {
		line := `{"timestamp":"2026-11-20T19:00:05Z","type":"response_item","payload":{` + test.payload + `}}`
		asks := strings.Replace(contextLine, `"model":"m"`, `"model":"m","approval_policy":"on-request"`, 1)
		tail := endOf(t, metaLine, startedLine, askedLine, asks, line)
		if turn := tail.TurnAt(time.Now()); !reflect.DeepEqual(turn.WaitingOn, &test.want) {
			t.Errorf("%s: %+v on %+v", name, turn, turn.WaitingOn)
		}
	}
}
