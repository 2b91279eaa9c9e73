package opencode

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// server starts an HTTP server and returns its port.
func server(t *testing.T, answer http.HandlerFunc) (port int) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// serving returns a session of a process that listens on these ports.
func serving(t *testing.T, status discover.Status, ports ...int) discover.Session {
	t.Helper()
	f := agent(70, at(t, "10:00:00"), "serve")
	f.Ports, f.PeerPID = ports, os.Getpid()
	p, _ := proctest.NewTable(f).ByPID(70)
	r := &discover.Record{ID: "ses_1", Dir: "/srv/a dir&more"}
	return discover.Session{Record: r, Status: status, Shared: true, Processes: []proc.Process{p}}
}

func TestInterruptAsksTheServer(t *testing.T) {
	var asked []string
	port := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" in "+r.URL.Query().Get("directory")+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "true")
	})
	accepted, err := New().Interrupt(t.Context(), serving(t, discover.Running, port), launch.Environment{})
	host := launch.Environment{Environ: []string{passwordKey + "=secret"}}
	again, errAgain := New().Interrupt(t.Context(), serving(t, discover.Waiting, port), host)
	if !accepted || err != nil || !again || errAgain != nil {
		t.Errorf("accepted: %v, %v; %v, %v", accepted, err, again, errAgain)
	}
	const abort = "POST /session/ses_1/abort in /srv/a dir&more "
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte("opencode:secret"))
	if len(asked) != 2 || asked[0] != abort || asked[1] != abort+login {
		t.Errorf("asked %q", asked)
	}
}

func TestInterruptReturnsTheReason(t *testing.T) {
	status := func(code int) int {
		return server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	closed := server(t, nil)
	for _, c := range []struct {
		name  string
		ports []int
		set   string
		says  string
	}{
		{"a password", []int{status(401)}, "", "asks for a password: set OPENCODE_SERVER_PASSWORD"},
		{"another password", []int{status(401)}, passwordKey + "=x", "does not take the password"},
		{"another server", []int{status(404)}, "", "HTTP status 404"},
		{"nothing", []int{1}, "", "127.0.0.1:1: connect: connection refused"},
	} {
		accepted, err := New().Interrupt(t.Context(), serving(t, discover.Running, c.ports...), launch.Environment{Environ: []string{c.set}})
		if accepted || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: accepted: %v, %v", c.name, accepted, err)
		}
	}
	if accepted, err := New().Interrupt(t.Context(), serving(t, discover.Running, status(404), status(200)), launch.Environment{}); !accepted || err != nil {
		t.Errorf("at the second port: %v, %v", accepted, err)
	}
	if accepted, err := New().Interrupt(t.Context(), serving(t, discover.Idle, closed), launch.Environment{}); !accepted || err != nil {
		t.Errorf("an idle one has nothing to end: %v, %v", accepted, err)
	}
	alone := serving(t, discover.Running, closed)
	alone.Shared = false
	for _, s := range []discover.Session{alone, serving(t, discover.Running)} {
		if accepted, err := New().Interrupt(t.Context(), s, launch.Environment{}); accepted || err != nil {
			t.Errorf("there is no such way: %v, %v", accepted, err)
		}
	}
}

// If the server listens on another address, another process may have the port on loopback. It is sent nothing, least of all the password.
func TestInterruptSendsNothingToAnotherProcess(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			heard <- err.Error()
			return
		}
		said := make([]byte, 1<<10)
		n, _ := conn.Read(said)
		_ = conn.Close()
		heard <- string(said[:n])
	}()
	f := agent(70, at(t, "10:00:00"), "serve")
	f.Ports, f.PeerPID = []int{l.Addr().(*net.TCPAddr).Port}, os.Getppid()
	s := serving(t, discover.Running)
	s.Processes[0], _ = proctest.NewTable(f).ByPID(70)
	accepted, err := New().Interrupt(t.Context(), s, launch.Environment{Environ: []string{passwordKey + "=secret"}})
	if accepted || err == nil || !strings.Contains(err.Error(), "another process than pid 70 listens on 127.0.0.1:") {
		t.Errorf("accepted: %v, %v", accepted, err)
	}
	if said := <-heard; said != "" {
		t.Errorf("it hears %q", said)
	}
}

// The request to a server that never answers ends with the timeout.
func TestInterruptTimesOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	port := server(t, func(http.ResponseWriter, *http.Request) { cancel(); <-release })
	defer close(release)
	if accepted, err := New().Interrupt(ctx, serving(t, discover.Running, port), launch.Environment{}); accepted || !errors.Is(err, context.Canceled) {
		t.Errorf("accepted: %v, %v", accepted, err)
	}
}

// A tool has the PID of the process that started it. The PID alone is not enough.
func TestHasMarker(t *testing.T) {
	s := serving(t, discover.Stopped)
	for _, c := range []struct {
		name, pid, clock string
		inContainer      bool
		want             bool
	}{
		{"its tool", "70", "10:00:05", false, true},
		{"another's", "71", "10:00:05", false, false},
		{"nobody's", "", "10:00:05", false, false},
		{"older than the process", "70", "09:59:00", false, false},
		{"of a container's process", "70", "10:00:05", true, false},
	} {
		f := agent(90, at(t, c.clock))
		f.Environ = map[string]string{pidKey: c.pid}
		if c.inContainer {
			f.NSPIDs = []int{90, 3}
		}
		p, _ := proctest.NewTable(f).ByPID(90)
		if got := New().HasMarker(p, s); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	f := agent(70, at(t, "10:00:00"))
	f.Environ = map[string]string{pidKey: "70"}
	if p, _ := proctest.NewTable(f).ByPID(70); New().HasMarker(p, s) {
		t.Error("the process itself is none of its tools")
	}
}

// receiving returns a session of a process that listens on these ports, as a claim of its log names it.
func receiving(t *testing.T, mode string, ports ...int) discover.Session {
	t.Helper()
	s := serving(t, discover.Running, ports...)
	s.Source, s.Model = mode, "openrouter/anthropic/claude"
	s.Meta = discover.Facts{"agent": "plan", "variant": "high"}
	s.Evidence = []discover.Evidence{{Accepted: true, Claim: discover.Claim{Session: s.ID, Process: s.Processes[0].ID}}}
	return s
}

func TestSendPromptsTheServer(t *testing.T) {
	var asked, login string
	var body any
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
	want := map[string]any{
		"agent": "plan", "model": map[string]any{"providerID": "openrouter", "modelID": "anthropic/claude"}, "variant": "high",
		"parts": []any{map[string]any{"id": sent.ID, "type": "text", "text": text}},
	}
	if !reflect.DeepEqual(body, any(want)) {
		t.Errorf("the body is %.400q", body)
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
	if got, want := string(promptBody(s, launch.SentMessage{Text: "x", ID: "prt_1"})), `{"parts":[{"id":"prt_1","text":"x","type":"text"}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
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
