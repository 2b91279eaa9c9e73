package realagents

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
)

// OpenCode takes messages by its server: during a turn, while it waits for the user, when it is idle, large ones. None is lost, and none is
// called delivered that is not.
func TestOpenCodeTakesMessages(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	server := a.Serve()
	base := serverURL(t, server)

	// The model gets the message with its next call, and the tool goes on meanwhile.
	tool := w.Tool(a.Dir())
	id := ask(t, base, a.Dir(), "works [[shell "+tool.Command+"]]")
	tool.WaitRunning()
	c.expectStatus(id, "running")
	c.delivers(id, "a note meanwhile")
	if got := c.status(id); got.Status != "running" || got.Meta["turnDetail"] != "tool: bash" {
		t.Errorf("during the turn it is %s, %v", got.Status, got.Meta["turnDetail"])
	}
	calls := len(w.Model.Requests())
	tool.End()
	c.expectStatus(id, "idle")
	bodies := ""
	for _, q := range w.Model.Requests()[calls:] {
		bodies += string(q.Body)
	}
	if !strings.Contains(bodies, "a note meanwhile") {
		t.Error("the model did not get the note")
	}
	c.sendsTraced("", id, "the second")
	c.expectStatus(id, "idle")

	// A permission stays open, and is shown as before.
	dir := w.Dir("asking")
	if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	waits := ask(t, base, dir, "wants [[shell touch made]]")
	c.expectStatus(waits, "waiting")
	c.delivers(waits, "perhaps not")
	got := c.status(waits)
	if on := got.WaitingOn; rowOf(got) != row(waits, server.PID(), "waiting permission") || on == nil || on.Brief != "touch made" {
		t.Errorf("after a message it is %s, and waits on %+v", rowOf(got), on)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("the command has run")
	}

	text := c.sendsLong(id)
	w.WaitCall("/clear @notes", 0)
	stored := userMessages(t, w, id)
	if last := stored[len(stored)-1]; last != (userMessage{text, "build", "anthropic/claude-sonnet-4-5"}) {
		t.Errorf("it has %d of %d bytes, for %s and %s", len(last.text), len(text), last.agent, last.model)
	}
	c.expectStatus(id, "idle")
	server.Signal(syscall.SIGSTOP)
	c.exits(124, "whether it has the message is not known", "send", "--timeout", "2s", id, "unheard")
	server.Kill()
	c.exits(5, "agentctl resume", "send", id, "too late")
}

// delivers sends a message, which must be delivered.
func (c agentctl) delivers(id, text string) {
	c.t.Helper()
	if out := c.does("send", id, text); out != id+"  delivered\n" {
		c.t.Errorf("send %.40q: %s", text, out)
	}
}

// expectStatus waits until the session has this status, and the log names it: the agent writes its log a second late.
func (c agentctl) expectStatus(id, want string) {
	c.t.Helper()
	var got session
	if !poll(func() bool {
		got = c.status(id)
		return got.Status == want && got.Evidence != nil && got.Evidence.Strength == "exact"
	}) {
		c.t.Fatalf("%s is %s, not %s: %+v", id, got.Status, want, got.Evidence)
	}
}

// leftToTheNextPrompt is what send says of a message that the agent has stored too late for the turn, and asks the model nothing for.
const leftToTheNextPrompt = "the transcript has it, and the model has not been asked"
