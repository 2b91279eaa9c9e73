package realagents

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// asksToEdit has an agent ask its user for permission to replace a line of a file by two, and checks that everything that shows sessions
// shows that.
func asksToEdit(t *testing.T, c agentctl, a world.Agent) {
	t.Helper()
	file := filepath.Join(a.Dir(), "notes.txt")
	if err := os.WriteFile(file, []byte("one\nand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var prompt string
	var flags []string
	want := output.WaitingOn{Path: file, Brief: file, Diff: &output.Diff{Added: 2, Removed: new(1)}}
	switch a.Agent() {
	case install.ClaudeCode:
		want.Tool = "Edit"
		prompt = `edits [[tool Read {"file_path":"` + file + `"};; tool Edit {"file_path":"` + file + `","old_string":"one\nand","new_string":"two\nthree\nand"}]]`
	case install.OpenCode:
		want.Tool = "edit"
		prompt = `edits [[tool read {"filePath":"` + file + `"};; tool edit {"filePath":"` + file + `","oldString":"one\nand","newString":"two\nthree\nand"}]]`
	case install.Codex: // which offers this model no other tool for it
		flags = []string{"--sandbox", "read-only", "--ask-for-approval", "on-request"}
		want.Tool, want.Path = "exec_command", "notes.txt"
		want.Brief = "apply_patch <<'P'\n*** Begin Patch\n*** Update File: notes.txt\n@@\n-one\n+two\n+three\n and\n*** End Patch\nP"
		command, _ := json.Marshal(want.Brief)
		prompt = `edits [[tool exec_command {"cmd":` + strings.ReplaceAll(string(command), `\u003c`, "<") + `}]]`
	}
	text := want.Tool + ": notes.txt +2 -1"
	if a.Agent() == install.Codex {
		text = want.Tool + ": " + strings.Join(strings.Fields(want.Brief), " ") + " +2 -1"
	}

	posted := make(chan []byte, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- body
	}))
	defer hook.Close()
	script := filepath.Join(c.home, "waiting-on")
	events := c.events("--type", "session.waiting", "--cwd", a.Dir(), "--exec", `printf "%s\n" "$AGENTCTL_WAITING_ON" >>`+script, "--webhook", hook.URL)
	asking := a.TUI(flags...)
	asking.Submit(prompt)
	var id string
	is := func(s session) bool {
		return s.ID != nil && (id == "" || *s.ID == id) && s.Status == "waiting" && s.WaitingOn != nil && reflect.DeepEqual(*s.WaitingOn, want)
	}
	// events and the webhook may first have another session.
	if !poll(func() bool { id = idIn(events.text(), is); return id != "" }) {
		t.Fatalf("no event of a session that waits on %+v:\n%s", want, events.text())
	}
	if s := c.status(id); !is(s) {
		t.Errorf("status: %+v", s.WaitingOn)
	}
	if out, _, _ := c.run("status", id); !strings.Contains(out, "waiting (permission): "+text+"\n") {
		t.Errorf("status has no %q:\n%s", text, out)
	}
	if out, _, _ := c.run("list"); !strings.Contains(out, text+"  ") {
		t.Errorf("list has no %q:\n%s", text, out)
	}
	var bodies []byte
	if !poll(func() bool {
		select {
		case body := <-posted:
			bodies = append(bodies, body...)
		default:
		}
		return idIn(bodies, is) == id
	}) {
		t.Errorf("the webhook got %s", bodies)
	}
	if !poll(func() bool { got, _ := os.ReadFile(script); return strings.Contains("\n"+string(got), "\n"+text+"\n") }) {
		got, _ := os.ReadFile(script)
		t.Errorf("--exec got %q, want %q", got, text)
	}
	c.watchShows(text[:min(len(text), 22)])
	if got, err := os.ReadFile(file); err != nil || string(got) != "one\nand\n" {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// idIn is the ID of the first session in a stream of events that meets a condition; "" if none does.
func idIn(stream []byte, is func(session) bool) string {
	for line := range bytes.Lines(stream) {
		var event struct{ Session session }
		if json.Unmarshal(line, &event) == nil && is(event.Session) {
			return *event.Session.ID
		}
	}
	return ""
}

// watchShows waits until `list --watch` in a terminal shows a text.
func (c agentctl) watchShows(text string) {
	c.t.Helper()
	cmd := exec.Command(os.Getenv(binary), "list", "--watch")
	cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm"}, c.env...)
	terminal, err := term.Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	defer terminal.Close()
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if !poll(func() bool { screen, _ := terminal.Screen(); return strings.Contains(screen, text) }) {
		screen, _ := terminal.Screen()
		c.t.Errorf("list --watch has no %q:\n%s", text, screen)
	}
}
