package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/object"
	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// sendResult returns the result of a message that was sent, and the error.
func (c agentctl) sendResult(want int, args ...string) (r object.SendResult, errs string) {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"send", "--json"}, args...)...)
	if code != want {
		c.t.Errorf("send %.100q: exit code %d, want %d\n%.500s%s", args, code, want, out, errs)
	}
	if out != "" {
		must.Do(c.t, json.Unmarshal([]byte(out), &r))
	}
	return r, errs
}

// sendsLong sends 300 KB by stdin, and returns the message.
func (c agentctl) sendsLong(id string) string {
	c.t.Helper()
	text := "/clear @notes é日😀 \u202e \t<b>&\n! ls\n# \"x\" \\ " + strings.Repeat("0123456789 0123456789\n", 300<<10/22) + "end"
	cmd := c.command("send", id, "-")
	cmd.Stdin = strings.NewReader(text + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != id+"  delivered\n" {
		c.t.Errorf("300 KB: %v\n%s", err, out)
	}
	return text
}

// claudeTUI starts a TUI, and returns the ID of its session.
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
	for _, line := range wholeLines(t, path) {
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
		for _, line := range wholeLines(t, path) {
			if bytes.Contains(line, []byte(`"operation":"enqueue"`)) && bytes.Contains(line, []byte(text)) {
				return true
			}
		}
		return false
	}) {
		t.Fatalf("%q is not queued in %s", text, path)
	}
}

// A message begins a turn of an idle TUI, even of one without a prompt. During a tool call it is delivered when the model gets the tool's
// result, and not before; while the user is asked for a permission, that stays open. Nothing is written by agentctl, and no key is read.
func TestClaudeSend(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	tui, id := claudeTUI(t, c, a, "--permission-mode", "manual")
	c.sendsTraced("", id, "untouched [[text it was read]]")
	w.WaitCall("untouched", 0)
	tui.WaitFor("it was read")
	path := claudeTranscript(t, w, id)
	if text := c.sendsLong(id); !strings.Contains(w.WaitCall("0123456789\nend", 0).Prompt, text) {
		t.Error("the model got another text")
	}

	tui.Submit("asks [[shell echo > made]]")
	tui.WaitFor("Do you want to proceed?")
	if r, errs := c.sendResult(124, "--timeout", "2s", id, "the first of two"); r.Result != "accepted" || !strings.Contains(errs, "not read within 2s") {
		t.Errorf("%+v, %s", r, errs)
	}
	var second sync.WaitGroup
	second.Go(func() { c.sendResult(0, id, "the second of two") })
	awaitQueued(t, path, "the second of two")
	if n := storedMessages(t, path, "of two"); n != 0 || !strings.Contains(tui.Screen(), "Do you want to proceed?") {
		t.Errorf("%d are delivered while the user is asked\n%s", n, tui.Screen())
	}
	if _, err := os.Stat(filepath.Join(a.Dir(), "made")); err == nil {
		t.Error("the command has run")
	}
	tui.Answer("Do you want to proceed?", term.Enter)
	second.Wait()
	for _, text := range []string{"the first of two", "the second of two"} {
		if !poll(func() bool { return storedMessages(t, path, text) == 1 }) {
			t.Errorf("%q is stored %d times", text, storedMessages(t, path, text))
		}
	}
	c.expect([]string{row(id, tui.PID(), "idle")})

	// A turn that a message began is cut off.
	c.sendResult(0, id, "hangs [[hang]]")
	w.WaitCall("hangs", 0)
	kill(t, tui.PID())
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	c.exits(5, "agentctl resume "+id+" TEXT", "send", id, "too late")
}

// What is not delivered is never called so.
func TestClaudeSendIsHonest(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)

	// The session ends before it reads the message.
	run := a.Run("hangs in print mode [[hang]]")
	w.WaitCall("hangs in print mode", 0)
	id := claudeID(t, w, "hangs in print mode [[hang]]")
	var sender sync.WaitGroup
	sender.Go(func() {
		if r, errs := c.sendResult(1, id, "never read"); r.Result != "lost" || !strings.Contains(errs, "has ended before it read the message: the message was not delivered") {
			t.Errorf("%+v, %s", r, errs)
		}
	})
	awaitQueued(t, claudeTranscript(t, w, id), "never read")
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

	// Another process listens in the place of the session's, and hears nothing.
	raw, err := os.ReadFile(filepath.Join(w.Home, ".claude", "sessions", strconv.Itoa(tui.PID())+".json"))
	var entry struct{ MessagingSocketPath string }
	if err == nil {
		err = json.Unmarshal(raw, &entry)
	}
	if err != nil || os.Remove(entry.MessagingSocketPath) != nil {
		t.Fatalf("%s, %v", raw, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: entry.MessagingSocketPath, Net: "unix"})
	must.Do(t, err)
	defer l.Close()
	c.exits(1, fmt.Sprintf("another process than pid %d listens on %s, and is sent nothing", tui.PID(), entry.MessagingSocketPath), "send", id, "for nobody else")
	if err := l.SetDeadline(time.Now().Add(time.Millisecond)); err != nil { // send has ended: who has connected waits already
		t.Fatal(err)
	}
	if conn, err := l.Accept(); err == nil {
		if heard, _ := io.ReadAll(conn); len(heard) > 0 {
			t.Errorf("another process hears %q", heard)
		}
	}
}

// Background sessions and print runs take messages too, at the end of the turn if no tool call comes before.
func TestClaudeSendHeadless(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
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
