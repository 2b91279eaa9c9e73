package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// sendResult returns the result of a message that was sent, and the error.
func (c agentctl) sendResult(want int, args ...string) (r output.SendResult, errs string) {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"send", "--json"}, args...)...)
	if code != want {
		c.t.Errorf("send %.100q: exit code %d, want %d\n%.500s%s", args, code, want, out, errs)
	}
	if out != "" {
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			c.t.Fatal(err)
		}
	}
	return r, errs
}

// claudeTUI starts a TUI that asks for permission, and returns the ID of its session.
func claudeTUI(t *testing.T, c agentctl, a world.Agent, args ...string) (tui *world.TUI, id string) {
	t.Helper()
	tui = a.TUI(args...)
	if !poll(func() bool {
		for _, s := range c.list() {
			if s.PID == tui.PID() && s.ID != nil {
				id = *s.ID
			}
		}
		return id != ""
	}) {
		t.Fatalf("no session of pid %d among %q", tui.PID(), rowsOf(c.list()))
	}
	return tui, id
}

// storedMessages counts the records by which a transcript has messages with a text that the model was given.
func storedMessages(t *testing.T, path, text string) (n int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		if !bytes.Contains(line, []byte(`"type":"queue-operation"`)) && bytes.Contains(line, []byte(`"msg_id"`)) && bytes.Contains(line, []byte(text)) {
			n++
		}
	}
	return n
}

// awaitQueued waits until Claude Code has put a message into a session's queue.
func awaitQueued(t *testing.T, path, text string) {
	t.Helper()
	if !poll(func() bool {
		raw, _ := os.ReadFile(path)
		for line := range bytes.Lines(raw) {
			if bytes.Contains(line, []byte(`"operation":"enqueue"`)) && bytes.Contains(line, []byte(text)) {
				return true
			}
		}
		return false
	}) {
		t.Fatalf("%q is not queued in %s", text, path)
	}
}

// TestClaudeSend: a message begins a turn of an idle TUI, even of one without a prompt; during a tool call it is delivered when the
// model gets the tool's result, and not before. Nothing is written by agentctl, and no key is read.
func TestClaudeSend(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	tui, id := claudeTUI(t, c, a, "--permission-mode", "manual", "--allowedTools=Bash")
	c.sendsTraced("", id, "untouched [[text it was read]]")
	w.WaitCall("untouched", 0)
	tui.WaitFor("it was read")
	path := claudeTranscript(t, w, id)

	// 300 KB, and what the shell, the agent or a terminal could take for something else.
	text := "/clear @" + path + " é日😀 \u202e \t<b>&\n! ls\n# x " + strings.Repeat("0123456789", 30_000) + " end"
	r, _ := c.sendResult(0, id, text[:100_000])
	if r.Result != "delivered" || r.Message == nil || !strings.Contains(*r.Message.Text, text[:100_000]) {
		t.Errorf("%.300v", r)
	}
	long := exec.Command(os.Getenv(binary), "send", id, "-")
	long.Env, long.Stdin = append([]string{"HOME=" + w.Home}, c.env...), strings.NewReader(text)
	if out, err := long.CombinedOutput(); err != nil || string(out) != id+"  delivered\n" {
		t.Errorf("300 KB: %v, %.300s", err, out)
	}
	if q := w.WaitCall("9 end", 0); !strings.Contains(q.Prompt, text) {
		t.Error("the model got another text")
	}
	if _, errs := c.sendResult(2, id, "a\x1b[2J"); !strings.Contains(errs, "control character U+001B at offset 1") {
		t.Error(errs)
	}

	// In the midst of a tool call.
	tool := w.Tool(a.Dir())
	tui.Submit("works [[shell " + tool.Command + ";; text worked]]")
	tool.WaitRunning()
	if r, errs := c.sendResult(124, "--timeout", "1s", id, "the first of two"); r.Result != "accepted" || !strings.Contains(errs, "handed over, and not read within 1s") {
		t.Errorf("%+v, %s", r, errs)
	}
	var second sync.WaitGroup
	second.Go(func() { c.sendResult(0, id, "the second of two") })
	awaitQueued(t, path, "the second of two")
	if n := storedMessages(t, path, "of two"); n != 0 {
		t.Errorf("%d are delivered while the tool runs", n)
	}
	tool.End()
	second.Wait()
	w.WaitCall("works", 1)
	for _, text := range []string{"the first of two", "the second of two"} {
		if n := storedMessages(t, path, text); n != 1 {
			t.Errorf("%q is stored %d times", text, n)
		}
	}
	tui.WaitFor("worked")

	// Six senders of one text at once: each is told of its own message.
	var senders sync.WaitGroup
	for range 6 {
		senders.Go(func() { c.sendResult(0, id, "the very same") })
	}
	senders.Wait()
	if n := storedMessages(t, path, "the very same"); n != 6 {
		t.Errorf("%d of 6 equal messages are stored", n)
	}

	// A turn that a message began is cut off.
	c.sendResult(0, id, "hangs [[hang]]")
	w.WaitCall("hangs", 0)
	kill(t, tui.PID())
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	if _, errs := c.sendResult(5, id, "too late"); !strings.Contains(errs, "it is stopped") || !strings.Contains(errs, "agentctl resume "+id+" TEXT") {
		t.Error(errs)
	}
}

// TestClaudeSendIsHonest: what is not delivered is never called so.
func TestClaudeSendIsHonest(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)

	// The session ends before it reads the message.
	run := a.Run("hangs in print mode [[hang]]")
	w.WaitCall("hangs in print mode", 0)
	id := claudeID(t, w, "hangs in print mode [[hang]]")
	path := claudeTranscript(t, w, id)
	var sender sync.WaitGroup
	sender.Go(func() {
		if r, errs := c.sendResult(1, id, "never read"); r.Result != "lost" || !strings.Contains(errs, "has ended before it read the message: the message was not delivered") {
			t.Errorf("%+v, %s", r, errs)
		}
	})
	awaitQueued(t, path, "never read")
	run.Kill()
	sender.Wait()

	// A session without permission prompts holds it until its user says yes.
	bypass := a.In(w.Dir("bypass")).With("IS_SANDBOX=1") // Claude Code refuses this mode to root elsewhere
	tui, id := claudeTUI(t, c, bypass, "--dangerously-skip-permissions")
	r, errs := c.sendResult(124, "--timeout", "10s", id, "to be approved")
	if r.Result != "accepted" || !strings.Contains(r.Refusal, "not delivered to Claude") || !strings.Contains(errs, "Held peer message") {
		t.Errorf("%+v, %s", r, errs)
	}
	tui.WaitFor("Held message from another session")

	c.whileAsked(w, a.In(w.Dir("asked")))

	// Another process listens in the place of the session's.
	socket := claudeSocket(t, w, tui.PID())
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	d := listenAs(t, "unix", socket)
	if _, errs := c.sendResult(1, id, "for nobody else"); !strings.Contains(errs, fmt.Sprintf("another process than pid %d listens on %s, and is sent nothing", tui.PID(), socket)) {
		t.Error(errs)
	}
	if heard := d.end(); heard != "" {
		t.Errorf("another process hears %q", heard)
	}
}

// whileAsked: while a session waits for a permission, a message is queued, and the permission stays open. Once the user has refused it,
// the session reads what was queued.
func (c agentctl) whileAsked(w *world.World, a world.Agent) {
	c.t.Helper()
	c.dir = a.Dir()
	tui, id := claudeTUI(c.t, c, a, "--permission-mode", "manual")
	tui.Submit("asks [[shell touch made]]")
	waits := func() bool {
		s := c.status(id)
		return rowOf(s) == row(id, tui.PID(), "waiting permission") && s.WaitingOn != nil && s.WaitingOn.Brief == "touch made"
	}
	if !poll(waits) {
		c.t.Fatalf("it does not wait for a permission, but is %s", rowOf(c.status(id)))
	}
	path := claudeTranscript(c.t, w, id)
	r, errs := c.sendResult(124, "--timeout", "2s", id, "the first while asked")
	if r.Result != "accepted" || r.Message != nil || !strings.Contains(errs, "not read within 2s: the session is waiting for its user (permission): Bash: touch made") {
		c.t.Errorf("%+v, %s", r, errs)
	}
	var second sync.WaitGroup
	second.Go(func() { c.sendResult(0, id, "the second while asked") })
	awaitQueued(c.t, path, "the second while asked")
	if n := storedMessages(c.t, path, "while asked"); n != 0 || !waits() || !strings.Contains(tui.Screen(), "Do you want to proceed?") {
		c.t.Errorf("%d are delivered while it is %s\n%s", n, rowOf(c.status(id)), tui.Screen())
	}
	tui.Answer("Do you want to proceed?", term.Escape)
	second.Wait()
	for _, text := range []string{"the first while asked", "the second while asked"} {
		if !poll(func() bool { return storedMessages(c.t, path, text) == 1 }) {
			c.t.Errorf("%q is stored %d times", text, storedMessages(c.t, path, text))
		}
	}
	if _, err := os.Stat(filepath.Join(a.Dir(), "made")); err == nil {
		c.t.Error("the command has run")
	}
	tui.HangUp()
}

// claudeSocket is where a process listens for messages, as it says itself.
func claudeSocket(t *testing.T, w *world.World, pid int) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Home, ".claude", "sessions", strconv.Itoa(pid)+".json"))
	var entry struct{ MessagingSocketPath string }
	if err == nil {
		err = json.Unmarshal(raw, &entry)
	}
	if err != nil || entry.MessagingSocketPath == "" {
		t.Fatalf("%s, %v", raw, err)
	}
	return entry.MessagingSocketPath
}

// TestClaudeSendHeadless: background sessions and print runs take messages too, at the end of the turn if no tool call comes before.
func TestClaudeSendHeadless(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Output("--bg", "in the background")
	id := claudeID(t, w, "in the background")
	c.sendResult(0, id, "to the background [[text yes]]")
	w.WaitCall("to the background", 0)
	c.stopped(id)

	run := a.Run("prints [[hang @read]]")
	w.WaitCall("prints", 0)
	id = claudeID(t, w, "prints [[hang @read]]")
	var sender sync.WaitGroup
	sender.Go(func() { c.sendResult(0, id, "to the run [[text yes]]") })
	awaitQueued(t, claudeTranscript(t, w, id), "to the run")
	w.Model.Release("read")
	sender.Wait()
	run.Wait()
}

// TestClaudeSendNotBefore224: older versions do not listen for messages; it is said why, and what to do.
func TestClaudeSendNotBefore224(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeMain)
	c := agentctlIn(t, w).as(a)
	_, id := claudeTUI(t, c, a)
	r, errs := c.sendResult(7, id, "hello")
	if r.Result != "" || !strings.Contains(errs, "takes no messages: update Claude Code, then stop the session and resume it") {
		t.Errorf("%+v, %s", r, errs)
	}
}
