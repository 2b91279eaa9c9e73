package claudecode

import (
	"testing"

	"agentctl/launch"
)

const (
	initEvent     = `{"type":"system","subtype":"init","cwd":"/w","session_id":"` + alive + `","tools":[]}` + "\n"
	retryEvent    = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"error_status":529,"error":"overloaded","session_id":"` + alive + `"}` + "\n"
	successEvent  = `{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"` + alive + `"}` + "\n"
	failureEvent  = `{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 busy\n","session_id":"` + alive + `"}` + "\n"
	maxTurnsEvent = `{"type":"result","subtype":"error_max_turns","is_error":false,"session_id":"` + alive + `"}` + "\n"
	refusalEvent  = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"],"session_id":"` + alive + `"}` + "\n"
)

// TestParseOutput has lines as Claude Code prints them (2.1.197, 2.1.329).
func TestParseOutput(t *testing.T) {
	for _, test := range []struct{ out, id, err string }{
		{"", "", ""},
		{"the answer\n", "", ""},
		{"API Error: 400 no\n", "", ""},                    // may as well be an answer about one
		{"This is how it looks:\n" + failureEvent, "", ""}, // a quotation
		{initEvent, alive, ""},
		{initEvent + retryEvent, alive, ""}, // F5
		{initEvent + retryEvent + successEvent, alive, ""},
		{initEvent + retryEvent + failureEvent, alive, "API Error: 529 busy"},
		{failureEvent, alive, "API Error: 529 busy"},
		{failureEvent[:len(failureEvent)-9], "", ""}, // it is being written
		{initEvent + maxTurnsEvent, alive, "error_max_turns"},
		{refusalEvent, alive, "No conversation found"},
		{`{"type":"result","is_error":true,"result":"of nobody"}`, "", ""},
	} {
		want := launch.ParsedOutput{ID: test.id, Error: test.err}
		if got := New().ParseOutput(launch.Output{Stdout: []byte(test.out), Stderr: []byte("a warning\n")}); got != want {
			t.Errorf("%q: %+v, want %+v", test.out, got, want)
		}
	}
}
