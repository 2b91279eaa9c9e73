package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// sends sends a message and compares the exit code and what is printed on stderr.
func (c agentctl) sends(code int, say string, args ...string) {
	c.t.Helper()
	if out := c.exits(code, say, append([]string{"send"}, args...)...); strings.Contains(out, "delivered") != (code == 0) {
		c.t.Errorf("send %.80q: %s", args, out)
	}
}

// count is how often a session was asked a text.
func count(t *testing.T, w *world.World, id, text string) (n int) {
	t.Helper()
	for _, a := range asked(t, w, id) {
		if a == text {
			n++
		}
	}
	return n
}

const codexAsks = "Would you like to run the following command?"

// A thread of the daemon is sent messages over its socket, idle or at work; delivered is only what its rollout has.
func TestCodexSend(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	tui := a.TUI()
	id := c.onlyID()
	c.sendsTraced("", id, "the first")
	tui.WaitFor("OK: the first")
	if text := c.sendsLong(id); count(t, w, id, text) != 1 {
		t.Errorf("stored: %.200q", asked(t, w, id))
	}

	// A turn in progress reads messages once its tool has ended; two with the same text are two messages.
	tool := w.Tool(a.Dir())
	tui.Submit("work [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	c.sends(124, "not read within", "--timeout", "2s", id, "a moment later")
	if count(t, w, id, "a moment later") != 0 {
		t.Error("it was read while a tool runs")
	}
	var senders sync.WaitGroup
	for range 2 {
		senders.Go(func() { c.sends(0, "", id, "the same") })
	}
	tool.End()
	senders.Wait()
	if same, later := count(t, w, id, "the same"), count(t, w, id, "a moment later"); same != 2 || later != 1 {
		t.Errorf("%d of 2, %d of 1 are stored: %q", same, later, asked(t, w, id)[2:])
	}

	// A thread that waits for permission reads nothing. The daemon ends before the thread reads a message.
	tui.Submit("ask [[escalate echo hi]]")
	tui.WaitFor(codexAsks)
	c.expect([]string{row(id, tui.PID(), "waiting permission")})
	send := c.command("send", id, "to one that ends")
	var errs strings.Builder
	send.Stderr = &errs
	if err := send.Start(); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return watchesProcess(send.Process.Pid) }) {
		t.Error("send does not wait for the thread")
	}
	kill(t, daemonPID(t, w))
	if err := send.Wait(); send.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "has ended before it read the message: the message was not delivered") {
		t.Errorf("%v, %s", err, errs.String())
	}
	if count(t, w, id, "to one that ends") != 0 {
		t.Error("it is stored")
	}
}

// watchesProcess reports whether a process waits for the end of another one. send does so once the agent has accepted the message.
func watchesProcess(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(files, func(file string) bool {
		name, _ := os.Readlink(file)
		return name == "anon_inode:[pidfd]" || strings.HasPrefix(name, "pidfd:")
	})
}

// A TUI that runs its own thread takes messages from the queue that Codex keeps; a message to a session that ends before it reads it is not
// delivered. Runs of exec take none.
func TestCodexSendByQueue(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	tui := a.TUI("--no-daemon")
	c.sends(7, "before its first prompt", c.onlyID(), "too early")
	tui.Submit("the first")
	tui.WaitFor("OK: the first")
	id := codexID(t, w, "the first")
	c.sendsTraced(a.Native, id, "the second")
	tui.WaitFor("OK: the second")
	if text := c.sendsLong(id); count(t, w, id, text) != 1 {
		t.Errorf("stored: %.200q", asked(t, w, id))
	}
	tui.WaitFor("OK: /clear @notes")

	// A session that waits for permission leaves messages in the queue until its turn is over, and the permission open.
	tui.Submit("ask [[escalate echo hi]]")
	tui.WaitFor(codexAsks)
	c.sends(124, "not read within 10s: the session is waiting for its user (permission): exec_command: echo hi", "--timeout", "10s", id, "into a question")
	if count(t, w, id, "into a question") != 0 || !strings.Contains(codexQueue(t, w, id), "into a question") || !strings.Contains(tui.Screen(), codexAsks) {
		t.Errorf("the queue has %s\n%s", codexQueue(t, w, id), tui.Screen())
	}
	tui.Answer(codexAsks, term.Enter)
	tui.WaitFor("OK: into a question")

	tool := w.Tool(a.Dir())
	tui.Submit("work [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	var sender sync.WaitGroup
	sender.Go(func() { c.sends(1, "has ended before it read the message", id, "too late") })
	if !poll(func() bool { return strings.Contains(codexQueue(t, w, id), "too late") }) {
		t.Error("it is not queued")
	}
	tui.Kill()
	sender.Wait()
	if count(t, w, id, "too late") != 0 {
		t.Error("it is stored")
	}

	run := c.launched("codex", "--force", "-p", "a run [[hang]]")
	c.sends(7, "exec takes no messages", run, "to a run")
	if codexQueue(t, w, run) != "" || count(t, w, run, "to a run") > 0 {
		t.Error("it was sent")
	}
}

// codexQueue are the messages in Codex's queue for a thread, as JSON.
func codexQueue(t *testing.T, w *world.World, id string) (texts string) {
	t.Helper()
	db := readOnly(t, filepath.Join(w.Home, ".codex", "queue_1.sqlite"))
	defer db.Close()
	if err := db.QueryRow("SELECT coalesce(group_concat(payload_json), '') FROM queued_items WHERE thread_id = ?", id).Scan(&texts); err != nil {
		t.Error(err)
	}
	return texts
}
