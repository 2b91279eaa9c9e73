package opencode

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// receiving returns a session of a process that listens on these ports, as a claim of its log names it.
func receiving(t *testing.T, mode mode, ports ...int) discover.Session {
	t.Helper()
	s := serving(t, discover.Running, ports...)
	s.Source, s.Model = mode.source(), "openrouter/anthropic/claude"
	s.Meta = discover.Facts{{"agent", "plan"}, {"variant", "high"}}
	s.Evidence = []discover.Evidence{{Accepted: true, Claim: discover.Claim{Session: s.ID, Process: s.Processes[0].ID}}}
	return s
}

func TestSendPromptsTheServer(t *testing.T) {
	var asked, login string
	var body prompt
	port := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path + " in " + r.URL.Query().Get("directory") + " as " + r.Header.Get("Content-Type")
		login = r.Header.Get("Authorization")
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(204)
	})
	s := receiving(t, modeServer, port)
	text := "say \"hi\" <\u00e9>\n\t" + strings.Repeat("x", 300_000)
	sent, err := New().Send(t.Context(), s, text, launch.Environment{Environ: []string{passwordKey + "=secret"}})
	if err != nil || sent.Text != text || !strings.HasPrefix(sent.ID, "prt_") || len(sent.ID) != idLength {
		t.Errorf("sent %.60q as %q, %v", sent.Text, sent.ID, err)
	}
	if want := "POST /session/ses_1/prompt_async in /srv/a dir&more as application/json"; asked != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("opencode:secret")); login != want {
		t.Errorf("login %q, want %q", login, want)
	}
	if body.Agent != "plan" || body.Model == nil || *body.Model != (promptModel{"openrouter", "anthropic/claude"}) || body.Variant != "high" {
		t.Errorf("for agent %q, model %+v, variant %q", body.Agent, body.Model, body.Variant)
	}
	if len(body.Parts) != 1 || body.Parts[0] != (promptPart{sent.ID, "text", text}) {
		t.Errorf("parts %.200q", body.Parts)
	}
	stored := discover.Message{ID: sent.ID, Role: discover.RoleUser, Text: text}
	other := discover.Message{ID: "prt_1", Role: discover.RoleUser, Text: text}
	if !New().IsSent(stored, sent) || New().IsSent(other, sent) {
		t.Error("a message with the same text is not the one that was sent")
	}
	if again, err := New().Send(t.Context(), s, text, launch.Environment{}); err != nil || again.ID == sent.ID {
		t.Errorf("the second has the ID %s of the first, %v", again.ID, err)
	}
}

// Where nothing is known of the session's last message, the server decides.
func TestSendLeavesOutWhatIsUnknown(t *testing.T) {
	s := receiving(t, modeTUI, 1)
	s.Model, s.Meta = "", nil
	if got, want := string(promptBody(s, launch.SentMessage{Text: "x", ID: "prt_1"})), `{"parts":[{"id":"prt_1","type":"text","text":"x"}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSendReturnsTheReason(t *testing.T) {
	status := func(code int) int {
		return server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	for _, c := range []struct {
		name  string
		ports []int
		set   string
		says  string
	}{
		{"a password", []int{status(401)}, "", "asks for a password: set OPENCODE_SERVER_PASSWORD"},
		{"another password", []int{status(401)}, passwordKey + "=x", "does not take the password"},
		{"no such session", []int{status(404)}, "", "does not take the message: HTTP status 404"},
		{"an answer that says nothing", []int{status(200)}, "", "does not take the message: HTTP status 200"},
		{"nothing", []int{1}, "", "127.0.0.1:1: connect: connection refused"},
	} {
		_, err := New().Send(t.Context(), receiving(t, modeServer, c.ports...), "x", launch.Environment{Environ: []string{c.set}})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := New().Send(t.Context(), receiving(t, modeServer, status(404), status(204)), "x", launch.Environment{}); err != nil {
		t.Errorf("at the second port: %v", err)
	}
}

func TestCheckSend(t *testing.T) {
	twice := receiving(t, modeServer, 1)
	twice.Evidence = append(twice.Evidence, discover.Evidence{Accepted: true, Claim: discover.Claim{Session: twice.ID, Process: proc.ID{PID: 71}}})
	idle := twice
	idle.Status = discover.Idle
	none := receiving(t, modeServer, 1)
	none.Processes = nil
	for name, c := range map[string]struct {
		session discover.Session
		says    string // "" if it takes messages
	}{
		"server":                  {receiving(t, modeServer, 1), ""},
		"terminal with a port":    {receiving(t, modeTUI, 1), ""},
		"terminal without one":    {receiving(t, modeTUI), "start: opencode --port 0 --session ses_1"},
		"headless run":            {receiving(t, modeRun), "agentctl resume ses_1 TEXT"},
		"headless run that hears": {receiving(t, modeRun, 1), "agentctl resume ses_1 TEXT"},
		"in two processes":        {twice, "several processes"},
		"idle in two processes":   {idle, ""},
		"in none":                 {none, "no process"},
	} {
		err := New().CheckSend(c.session, launch.Environment{})
		if unsupported := (*launch.UnsupportedError)(nil); c.says == "" && err != nil || c.says != "" && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
