package opencode

import (
	"strings"
	"testing"

	"agentctl/launch"
)

// These are outputs of 1.18.33.
func TestParseOutput(t *testing.T) {
	const (
		step    = `{"type":"step_start","timestamp":1795222482129,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","part":{"id":"prt_1","sessionID":"ses_other"}}` + "\n"
		failed  = `{"type":"error","timestamp":1795222811705,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","error":{"name":"APIError","data":{"message":"the model answers with status 401","statusCode":401}}}` + "\n"
		unknown = `{"type":"error","timestamp":1795222755978,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","error":{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details.","ref":"err_f86f7547"}}}` + "\n"
		id      = "ses_e0466da6bffe0gBsbSC3BXIGZw"
	)
	for name, c := range map[string]struct {
		out, errs string
		want      launch.ParsedOutput
	}{
		"nothing":          {"", "", launch.ParsedOutput{}},
		"at work":          {step, "", launch.ParsedOutput{ID: id}},
		"a torn line":      {step[:90], "", launch.ParsedOutput{}},
		"an API error":     {step + failed, "", launch.ParsedOutput{ID: id, Error: "the model answers with status 401"}},
		"an unknown model": {unknown, "", launch.ParsedOutput{ID: id, Error: "Unexpected server error. Check server logs for details. (err_f86f7547)"}},
		"a warning":        {step, "\x1b[93m\x1b[1m! \x1b[0m agent \"x\" not found. Falling back to default agent\n", launch.ParsedOutput{ID: id}},
		"no session":       {"", "\x1b[91m\x1b[1mError: \x1b[0mSession not found\n", launch.ParsedOutput{Error: "Session not found"}},
		"a bad configuration": {
			"", "\n\x1b[91m\x1b[1mError: \x1b[0mConfiguration is invalid at /x/opencode.json\n↳ Expected string\n",
			launch.ParsedOutput{Error: "Configuration is invalid at /x/opencode.json\n↳ Expected string"},
		},
		"a bad flag": {"", "opencode run [message..]\n\nrun opencode with a message\n", launch.ParsedOutput{Error: "it does not understand its arguments, and printed its help"}},
	} {
		if got := New().ParseOutput(launch.Output{Stdout: []byte(c.out), Stderr: []byte(c.errs)}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Any output gives only texts that are in it, and a cut loses only the line that it is in.
func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"type":"error","sessionID":"ses_1","error":{}}`), []byte(errorPrefix+"x"))
	f.Fuzz(func(t *testing.T, out, errs []byte) {
		said := New().ParseOutput(launch.Output{Stdout: out, Stderr: errs})
		if said.ID != "" && (!isSessionID(said.ID) || !strings.Contains(string(out), sessionPrefix) && !strings.Contains(string(out), `\u`)) {
			t.Errorf("%q is no ID that was printed", said.ID)
		}
	})
}
