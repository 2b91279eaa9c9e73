package codex

import (
	"testing"

	"agentctl/launch"
)

// The output of real agents (SEEN 0.104, 0.169) gives the thread's ID and the error.
func TestParseOutput(t *testing.T) {
	const (
		noise   = "WARNING: proceeding, even though we could not create PATH aliases: Refusing to create helper binaries\n"
		started = `{"type":"thread.started","thread_id":"` + someID + `"}` + "\n" + `{"type":"turn.started"}` + "\n"
		retry   = `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: no, url: http://x/v1/responses)"}` + "\n"
		log     = "2026-11-21T00:58:40.223768Z ERROR codex_api::endpoint::responses_websocket: failed to connect to Responses WebSocket stage=Unknown\n"
	)
	for name, test := range map[string]struct {
		stdout, stderr string
		want           launch.ParsedOutput
	}{
		"nothing":         {"", noise, launch.ParsedOutput{}},
		"begun":           {started, noise + "Reading prompt from stdin...\n", launch.ParsedOutput{ID: someID}},
		"retries":         {started + retry, noise + log, launch.ParsedOutput{ID: someID}},
		"failed":          {started + retry + `{"type":"error","message":"the last"}` + "\n" + `{"type":"turn.failed","error":{"message":"unexpected status 401"}}` + "\n", noise + log, launch.ParsedOutput{ID: someID, Error: "unexpected status 401"}},
		"only an error":   {started + `{"type":"error","message":"Missing environment variable: ` + "`NO_KEY`" + `."}` + "\n", noise, launch.ParsedOutput{ID: someID, Error: "Missing environment variable: `NO_KEY`."}},
		"the API's words": {started + `{"type":"turn.failed","error":{"message":"{\"error\":{\"code\":\"x\",\"message\":\"no such model\"}}\n"}}`, noise, launch.ParsedOutput{ID: someID, Error: "no such model"}},
		"a detail":        {started + `{"type":"turn.failed","error":{"message":"{\"detail\":\"not with this account\"}"}}`, "", launch.ParsedOutput{ID: someID, Error: "not with this account"}},
		"a bad flag":      {"", noise + "error: unexpected argument '--zzz' found\n\n  tip: to pass '--zzz' as a value, use '-- --zzz'\n\nUsage: codex exec\n", launch.ParsedOutput{Error: "unexpected argument '--zzz' found"}},
		"bad settings":    {"", noise + "Error loading config.toml: unknown variant `bogus`\nin `sandbox_mode`\n\n", launch.ParsedOutput{Error: "Error loading config.toml: unknown variant `bogus` in `sandbox_mode`"}},
		"no provider":     {"", noise + "Error: Model provider `zzz` not found\n", launch.ParsedOutput{Error: "Model provider `zzz` not found"}},
		"ended well":      {started + retry + `{"type":"turn.completed","usage":{}}` + "\n", noise + "some words\n", launch.ParsedOutput{ID: someID}},
		"one file":        {noise + started + "Error: broken\n", noise + started + "Error: broken\n", launch.ParsedOutput{ID: someID, Error: "broken"}},
		"another's id":    {started + `{"type":"thread.started","thread_id":"01a1fa6a-5869-7310-8297-cbac269b6577"}`, "", launch.ParsedOutput{ID: someID}},
		"torn":            {started + `{"type":"turn.failed","error":{"mess`, "", launch.ParsedOutput{ID: someID}},
		"no id":           {`{"type":"thread.started","thread_id":"../x"}`, "", launch.ParsedOutput{}},
	} {
		if got := (Adapter{}).ParseOutput(launch.Output{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr)}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"type":"thread.started","thread_id":"`+someID+`"}`), []byte("Error: x"))
	f.Add([]byte(`{"type":"turn.failed","error":{"message":"{\"error\":{\"message\":\"x\"}}"}}`), []byte("\x00"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		said := Adapter{}.ParseOutput(launch.Output{Stdout: stdout, Stderr: stderr})
		if said.ID != "" && !isThreadID(said.ID) {
			t.Errorf("%q is no id", said.ID)
		}
		more := Adapter{}.ParseOutput(launch.Output{Stdout: append(append([]byte{}, stdout...), "\n{\"type\":\"turn.failed\",\"err"...), Stderr: stderr})
		if more != said {
			t.Errorf("a torn last line changes %+v to %+v", said, more)
		}
	})
}
