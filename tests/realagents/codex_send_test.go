package realagents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

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
