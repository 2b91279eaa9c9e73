package realagents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
)

// asks waits until the session asks for what contains a text, and returns the request.
func (c agentctl) asks(id, text string) (r object.Request) {
	c.t.Helper()
	var out, errs string
	if !poll(func() bool {
		var code int
		out, errs, code = c.run("answer", id, "--json")
		r = object.Request{}
		asked := code == 0 && json.Unmarshal([]byte(out), &r) == nil
		return asked && (strings.Contains(r.Text, text) || len(r.Questions) > 0 && r.Questions[0].Text == text)
	}) {
		c.t.Fatalf("%s does not ask for %q: %s%s", id, text, out, errs)
	}
	return r
}

// answersAtOnce gives two answers to one request at the same time. One wins, and the other is a conflict.
func (c agentctl) answersAtOnce(id string, answers [2]string) (won string) {
	c.t.Helper()
	var codes [2]int
	var both sync.WaitGroup
	for i, answer := range answers {
		both.Go(func() { _, _, codes[i] = c.run("answer", id, answer) })
	}
	both.Wait()
	if codes != [2]int{0, 5} && codes != [2]int{5, 0} {
		c.t.Errorf("two answers at once: exit codes %v", codes)
	}
	return answers[min(codes[0], 1)]
}

func exists(elem ...string) bool {
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}

// A session of OpenCode's server, or of its terminal with a port, goes on with the answer: yes, no, always, a choice, a text.
func TestOpenCodeAnswer(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	dir := w.Dir("asking")
	if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := a.Serve()
	base := serverURL(t, server)

	id := ask(t, base, dir, "one [[shell touch yes;; shell touch no;; question Which way?;; question How?;; agent sub [[shell touch sub]]]]")
	r := c.asks(id, "touch yes")
	if on := c.status(id).WaitingOn; r.Text != "touch yes" || r.Call == "" || on == nil || on.ID != r.Call || !strings.Contains(r.Always, "touch *") {
		t.Errorf("the request is %+v, the row waits on %+v", r, on)
	}
	c.exits(5, "not open any more", "answer", id, "--request", "per_another", "yes")
	c.exits(0, id+"  yes: bash: touch yes", "answer", id, "--request", r.ID, "yes")
	c.asks(id, "touch no")
	c.exits(5, "not open any more", "answer", id, "--request", r.ID, "yes")
	c.does("answer", id, "no", "use the other one")
	if q := c.asks(id, "Which way?"); len(q.Questions) != 1 || len(q.Questions[0].Choices) != 2 || !q.Questions[0].FreeText {
		t.Errorf("%+v", q.Questions)
	}
	c.exits(5, "it asks a question", "answer", id, "always")
	c.does("answer", id, "YES")
	c.asks(id, "How?")
	c.does("answer", id, "by the side door")
	c.asks(id, "touch sub")
	c.does("answer", id, "yes")
	c.expectStatus(id, "idle")
	bodies := ""
	for _, q := range w.Model.Requests() {
		bodies += string(q.Body)
	}
	for _, said := range []string{"use the other one", "by the side door"} {
		if !strings.Contains(bodies, said) {
			t.Errorf("the model did not get %q", said)
		}
	}
	if !exists(dir, "yes") || exists(dir, "no") || !exists(dir, "sub") {
		t.Error("the commands that ran are not those that were allowed")
	}

	id = ask(t, base, dir, "two [[shell mkdir first;; shell mkdir second;; shell rm x]]")
	c.asks(id, "mkdir first")
	c.exits(0, "allows bash mkdir *", "answer", id, "always")
	c.asks(id, "rm x") // and not for the second mkdir
	if won := c.answersAtOnce(id, [2]string{"yes", "no"}); won != "yes" && won != "no" {
		t.Error(won)
	}
	c.expectStatus(id, "idle")

	// In a terminal, whose dialog closes; and answered there meanwhile.
	tui := a.In(dir).TUI("--port", "0")
	tui.Submit("three [[shell touch three;; shell touch four]]")
	id = openCodeID(t, w, "three")
	c.asks(id, "touch three")
	tui.WaitFor("Permission required")
	c.does("answer", id, "yes")
	r = c.asks(id, "touch four")
	tui.Answer("Permission required", term.Enter)
	tui.WaitGone("Permission required")
	c.exits(5, "", "answer", id, "--request", r.ID, "no")
	if !exists(dir, "three") || !poll(func() bool { return exists(dir, "four") }) {
		t.Error("what was allowed did not run")
	}

	id = ask(t, base, dir, "five [[shell touch five]]")
	c.asks(id, "touch five")
	server.Kill()
	c.exits(5, "it is stopped", "answer", id, "yes")
}

// A thread of Codex's daemon goes on with the answer: yes, no, always, a choice, a text. Its terminal closes the dialog.
func TestCodexAnswer(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	tui := a.TUI()
	id := c.onlyID()
	tui.Submit("one [[escalate touch yes;; escalate touch no;; escalate touch always;; escalate touch always;; escalate touch both;; escalate touch terminal]]")
	tui.WaitFor(codexAsks)
	r := c.asks(id, "touch yes")
	c.does("wait", id, "--until", "waiting", "--timeout", "2m") // the row says so a second later
	if on := c.status(id).WaitingOn; on == nil || on.ID != r.Call || !strings.Contains(r.Always, "touch yes") || r.CWD != a.Dir() {
		t.Errorf("the request is %+v, the row waits on %+v", r, on)
	}
	c.exits(7, "takes no reason", "answer", id, "no", "because")
	c.exits(0, id+"  yes: ", "answer", id, "--request", r.Call, "yes")
	c.asks(id, "touch no")
	c.exits(5, "not open any more", "answer", id, "--request", r.ID, "yes")
	c.does("answer", id, "no")
	c.asks(id, "touch always")
	c.exits(0, "rules/default.rules", "answer", id, "always")
	c.asks(id, "touch both") // and not for the second "touch always"
	c.answersAtOnce(id, [2]string{"yes", "yes"})
	r = c.asks(id, "touch terminal")
	tui.WaitFor("$ touch terminal") // the dialogs before it are closed
	tui.Answer(codexAsks, term.Enter)
	c.exits(5, "", "answer", id, "--request", r.ID, "no")
	c.does("wait", id, "--until", "idle", "--timeout", "2m")
	for _, name := range []string{"yes", "always", "both", "terminal"} {
		if !exists(a.Dir(), name) {
			t.Errorf("touch %s did not run", name)
		}
	}
	rules, err := os.ReadFile(filepath.Join(w.Home, ".codex", "rules", "default.rules"))
	if exists(a.Dir(), "no") || err != nil || !strings.Contains(string(rules), `"touch", "always"`) {
		t.Errorf("no: %v; rules: %q, %v", exists(a.Dir(), "no"), rules, err)
	}

	tui.Submit("/plan")
	tui.WaitFor("Plan mode")
	tui.Submit("two [[question Which way?;; question How?]]")
	if q := c.asks(id, "Which way?"); len(q.Questions) != 1 || len(q.Questions[0].Choices) != 2 || !q.Questions[0].FreeText {
		t.Errorf("%+v", q.Questions)
	}
	c.exits(5, "it asks a question", "answer", id, "always")
	c.does("answer", id, "yes")
	c.asks(id, "How?")
	c.does("answer", id, "by the side door")
	c.does("wait", id, "--until", "idle", "--timeout", "2m")
	c.exits(0, "user_note: by the side door", "peek", id, "--json")

	// The daemon keeps the request of a terminal that has ended, until it is killed.
	other := a.TUI()
	other.Submit("three [[escalate touch alone;; escalate touch never]]")
	other.WaitFor(codexAsks)
	id = codexID(t, w, "three [[")
	other.Kill()
	c.asks(id, "touch alone")
	c.does("answer", id, "yes")
	c.asks(id, "touch never")
	kill(t, daemonPID(t, w))
	c.exits(5, "it is stopped", "answer", id, "yes")
	if !exists(a.Dir(), "alone") || exists(a.Dir(), "never") {
		t.Error("what ran is not what was allowed")
	}
}

// Claude Code, and a terminal that no other process reaches, take answers in their terminals only. The request is shown.
func TestAnswerInTheTerminalOnly(t *testing.T) {
	_, a, c := newest(t, install.ClaudeCode)
	tui, id := claudeTUI(t, c, a, "--permission-mode", "manual")
	tui.Submit("may I [[shell touch asked]]")
	tui.WaitFor("Do you want to proceed?")
	if r := c.asks(id, "touch asked"); r.Unanswerable == "" || r.ID != "" || r.Call == "" || r.Kind != "permission" {
		t.Errorf("%+v", r)
	}
	c.exits(7, "agentctl attach "+id, "answer", id, "yes")
	if exists(a.Dir(), "asked") {
		t.Error("it ran")
	}
}
