package realagents

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
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

// answered is a session of a server, whose first prompt has been answered.
func (c agentctl) answered(w *world.World, a world.Agent, base, prompt string) (id string) {
	c.t.Helper()
	id = ask(c.t, base, a.Dir(), prompt)
	w.WaitCall(prompt, 0)
	c.expectStatus(id, "idle")
	return id
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

// A session that is sent a message keeps its mode of work and its model.
func TestOpenCodeKeepsTheModeOfASession(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	a.Run("made", "--agent", "plan", "--model", "anthropic/claude-haiku-4-5").Wait()
	id := openCodeID(t, w, "made")
	tui := a.Terminal("--port", "0", "--session", id)
	tui.WaitFor("OK: made")
	tui.Submit("in a terminal")
	w.WaitCall("in a terminal", 0)
	c.expect([]string{row(id, tui.PID(), "idle")})
	if out, errs, code := c.run("send", id, "sent into the terminal"); code != 0 && !strings.Contains(errs, leftToTheNextPrompt) { // as may happen if the last turn has only just ended
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	got := userMessages(t, w, id)
	typed, sent := got[len(got)-2], got[len(got)-1]
	if sent != (userMessage{"sent into the terminal", typed.agent, typed.model}) || sent.model != "anthropic/claude-haiku-4-5" {
		t.Errorf("typed %+v, sent %+v", typed, sent)
	}
}

// OpenCode takes no message where it does not listen, or without its password; nothing is sent then.
func TestOpenCodeTakesNoMessages(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	refuses := func(id string, want int, says string) {
		t.Helper()
		before := len(userMessages(t, w, id))
		c.exits(want, says, "send", id, "x")
		if after := len(userMessages(t, w, id)); after != before {
			t.Errorf("%s: %d messages more", says, after-before)
		}
	}
	run := a.Run("headless [[hang]]")
	w.WaitCall("headless", 0)
	id := openCodeID(t, w, "headless [[hang]]")
	c.expect([]string{row(id, run.PID(), "running")})
	refuses(id, 7, "takes no messages in a headless run")
	run.Kill()

	tui := a.TUI()
	tui.Submit("no port")
	id = openCodeID(t, w, "no port")
	c.expect([]string{row(id, tui.PID(), "idle")})
	refuses(id, 7, "opencode --port 0 --session "+id)
	tui.HangUp()

	base := strings.Replace(serverURL(t, a.With("OPENCODE_SERVER_PASSWORD=secret").Serve()), "http://", "http://opencode:secret@", 1)
	id = c.answered(w, a, base, "with a password")
	refuses(id, 1, "asks for a password: set OPENCODE_SERVER_PASSWORD")
	c.env = append(c.env, "OPENCODE_SERVER_PASSWORD=wrong")
	refuses(id, 1, "does not take the password")
	c.env = append(c.env, "OPENCODE_SERVER_PASSWORD=secret")
	c.delivers(id, "with the password")
}

// A message that was sent during an answer which the person then aborts, or during a question that the person dismisses, is left to the next
// prompt. The session is idle, as its screen is.
func TestOpenCodeLeavesAMessageUnread(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	tui := a.TUI("--port", "0")
	rests := func(id string, messages int) {
		t.Helper()
		c.expect([]string{row(id, tui.PID(), "idle")})
		if n := len(userMessages(t, w, id)); n != messages {
			t.Errorf("%d messages of the user, want %d", n, messages)
		}
		c.does("guard")
		if _, errs, code := c.run("wait", id, "--until", "idle", "--timeout", "2m"); code == 124 { // of a turn that was cut it may say so
			t.Error(errs)
		}
	}
	tool := w.Tool(a.Dir())
	tui.Submit("works [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	id := openCodeID(t, w, "works")
	c.expect([]string{row(id, tui.PID(), "running")})
	tui.Submit("typed meanwhile")
	tui.WaitFor("QUEUED")
	c.delivers(id, "sent meanwhile")
	tui.WaitFor("sent meanwhile")
	tui.Press(term.Escape)
	tui.WaitFor("again to interrupt")
	tui.Press(term.Escape)
	tui.WaitFor("interrupted")
	rests(id, 3)

	tui.Submit("[[question Which way?]]")
	tui.WaitFor("1. Yes")
	c.expect([]string{row(id, tui.PID(), "waiting question")})
	c.delivers(id, "sent during a question")
	tui.Answer("1. Yes", term.Escape)
	rests(id, 5)

	tui.Submit("what now?")
	if q := w.WaitCall("what now?", 0); !strings.Contains(string(q.Body), "sent during a question") {
		t.Error("the message that was left is not with the next prompt")
	}
	c.expect([]string{row(id, tui.PID(), "idle")})
}
