package realagents

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// sends sends a message and compares the exit code and what is printed on stderr.
func (c agentctl) sends(code int, say string, args ...string) {
	c.t.Helper()
	out, errs, got := c.run(append([]string{"send"}, args...)...)
	if got != code || strings.Contains(out, "delivered") != (code == 0) || !strings.Contains(errs, say) {
		c.t.Errorf("send %.80q: exit code %d, want %d\n%s%s", args, got, code, out, errs)
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

// onlyID is the ID of the only live session, once it has one.
func (c agentctl) onlyID() (id string) {
	c.t.Helper()
	if !poll(func() bool {
		rows := c.list()
		if len(rows) == 1 && rows[0].ID != nil {
			id = *rows[0].ID
		}
		return id != ""
	}) {
		c.t.Fatal("no session with an ID")
	}
	return id
}

// TestCodexSend: a thread of the daemon is sent messages over its socket, idle or at work, by several senders; delivered is
// only what its rollout has.
func TestCodexSend(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI()
	id := c.onlyID()
	c.sendsTraced("", id, "the first")
	tui.WaitFor("OK: the first")
	c.sends(0, "", id, "while idle")
	tui.WaitFor("OK: while idle")

	big := strings.Repeat("0123456789 ä\n", 30_000)
	cmd := exec.Command(os.Getenv(binary), "send", id, "-")
	cmd.Env, cmd.Stdin = a.Environ(), strings.NewReader(big)
	if out, err := cmd.CombinedOutput(); err != nil || count(t, w, id, strings.TrimSuffix(big, "\n")) != 1 {
		t.Errorf("%d bytes: %v, %s", len(big), err, out)
	}
	c.sendsLiterally(w, id)

	// A turn in progress reads messages once its tool has ended; two with the same text are two messages.
	tool := w.Tool(a.Dir())
	tui.Submit("work [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	c.sends(124, "not read within", "--timeout", "1s", id, "a moment later")
	if count(t, w, id, "a moment later") != 0 {
		t.Error("it was read while a tool runs")
	}
	var senders sync.WaitGroup
	for range 3 {
		senders.Go(func() { c.sends(0, "", id, "the same") })
	}
	tool.End()
	senders.Wait()
	if same, later := count(t, w, id, "the same"), count(t, w, id, "a moment later"); same != 3 || later != 1 {
		t.Errorf("%d of 3, %d of 1 are stored: %q", same, later, asked(t, w, id)[2:])
	}

	// A thread that waits for permission reads nothing, and loses what it was sent if its turn is interrupted.
	tui.Submit("ask [[escalate echo hi]]")
	tui.WaitFor("Would you like to run the following command?")
	c.expect([]string{row(id, tui.PID(), "waiting permission")})
	c.sends(124, "not read within", "--timeout", "1s", id, "into a question")
	if _, errs, code := c.run("stop", id); code != 0 {
		t.Errorf("stop: exit code %d\n%s", code, errs)
	}
	tui = a.TUI("resume", id)
	c.expect([]string{row(id, tui.PID(), "idle")})
	c.sends(0, "", id, "after it")
	if count(t, w, id, "into a question") != 0 || count(t, w, id, "after it") != 1 {
		t.Errorf("stored: %q", asked(t, w, id)[2:])
	}
	daemon := daemonPID(t, w)
	if row := c.status(id); row.PID != tui.PID() {
		t.Errorf("it is shown by %d", row.PID)
	}

	// The daemon ends before the thread reads a message.
	tui.WaitFor("OK: after it")
	tui.Submit("ask again [[escalate echo hi]]")
	tui.WaitFor("Would you like to run the following command?")
	send := exec.Command(os.Getenv(binary), "send", id, "to one that ends")
	var errs strings.Builder
	send.Env, send.Stderr = a.Environ(), &errs
	if err := send.Start(); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return watchesProcess(send.Process.Pid) }) {
		t.Error("send does not wait for the thread")
	}
	kill(t, daemon)
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

// sendsLiterally sends what a shell, the agent or a terminal could take for something else: text is stored unchanged, and control
// characters are refused.
func (c agentctl) sendsLiterally(w *world.World, id string) {
	c.t.Helper()
	text := "/clear @notes.txt \u65e5\U0001f600 \u202e \t<b>&\n! ls\n# x"
	c.sends(0, "", id, text)
	if n := count(c.t, w, id, text); n != 1 {
		c.t.Errorf("%q is stored %d times: %q", text, n, asked(c.t, w, id))
	}
	before := len(asked(c.t, w, id))
	for text, say := range map[string]string{"a\x1b[2J": "U+001B at offset 1", "\x9b1m": "not UTF-8 text at offset 0", "line\rline": "U+000D at offset 4", "b\u0085": "U+0085 at offset 1"} {
		c.sends(2, say, id, text)
	}
	if after := len(asked(c.t, w, id)); after != before {
		c.t.Errorf("%d messages more", after-before)
	}
}

// TestCodexSendByQueue: a TUI that runs its own thread takes messages from the queue that Codex keeps; a message to a session
// that ends before it reads it is not delivered. Runs of exec, and older versions, take none.
func TestCodexSendByQueue(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI("--no-daemon")
	c.sends(7, "before its first prompt", c.onlyID(), "too early")
	tui.Submit("the first")
	tui.WaitFor("OK: the first")
	id := codexID(t, w, "the first")
	c.sendsTraced(a.Native, id, "the second")
	tui.WaitFor("OK: the second")

	// A session that waits for permission leaves messages in the queue until its turn is over, and the permission open.
	tui.Submit("ask [[escalate echo hi]]")
	const question = "Would you like to run the following command?"
	tui.WaitFor(question)
	c.sends(124, "not read within 5s: the session is waiting for its user (permission): exec_command: echo hi", "--timeout", "5s", id, "into a question")
	if count(t, w, id, "into a question") != 0 || !strings.Contains(codexQueue(t, w, id), "into a question") || !strings.Contains(tui.Screen(), question) {
		t.Errorf("the queue has %s\n%s", codexQueue(t, w, id), tui.Screen())
	}
	tui.Answer(question, term.Enter)
	tui.WaitFor("OK: into a question")

	var senders sync.WaitGroup
	big := strings.Repeat("0123456789 0123456789\n", 15_000) + "end" // in lines: the terminal interface takes a minute to draw a single one
	for _, text := range []string{"the same", "the same", "-"} {
		senders.Go(func() {
			cmd := exec.Command(os.Getenv(binary), "send", id, text)
			cmd.Env, cmd.Stdin = a.Environ(), strings.NewReader(big)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v, %s", text, err, out)
			}
		})
	}
	senders.Wait()
	if count(t, w, id, "the same") != 2 || count(t, w, id, big) != 1 {
		t.Errorf("stored: %.200q", asked(t, w, id))
	}

	tui.WaitFor("OK: 0123456789")
	tool := w.Tool(a.Dir())
	tui.Submit("work [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		c.sends(1, "has ended before it read the message", id, "too late")
	}()
	if !poll(func() bool { return strings.Contains(codexQueue(t, w, id), "too late") }) {
		t.Error("it is not queued")
	}
	tui.Kill()
	<-lost
	if count(t, w, id, "too late") != 0 {
		t.Error("it is stored")
	}

	run := c.launched("codex", "--force", "-p", "a run [[hang]]")
	before := len(rolloutOf(t, w, run))
	c.sends(7, "exec takes no messages", run, "to a run")
	if codexQueue(t, w, run) != "" || len(rolloutOf(t, w, run)) != before {
		t.Error("it was sent")
	}
	if err := syscall.Kill(c.status(run).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	old := w.Codex(install.CodexOld)
	screen := old.TUI()
	screen.Submit("an old one")
	screen.WaitFor("OK: an old one")
	c.sends(7, "0.130.0 takes no messages: update Codex", codexID(t, w, "an old one"), "to an old one")
}

// codexQueue are the messages in Codex's queue for a thread, as JSON.
func codexQueue(t *testing.T, w *world.World, id string) (texts string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(w.Home, ".codex", "queue_1.sqlite")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT coalesce(group_concat(payload_json), '') FROM queued_items WHERE thread_id = ?", id).Scan(&texts); err != nil {
		t.Error(err)
	}
	return texts
}

// TestCodexResumeElsewhere: a session whose directory was renamed continues in the new one, in the same rollout, with its history.
func TestCodexResumeElsewhere(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		before, after := w.Dir("before"), a.Dir()+"-after"
		w.Trust(after)
		a.In(before).Run("in the old place").Wait()
		id := codexID(t, w, "in the old place")
		if err := os.Rename(before, after); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := c.run("resume", id, "go on"); code != 1 || out != "" || !strings.Contains(errs, "--cwd") {
			t.Errorf("without --cwd: exit code %d, %q\n%s", code, out, errs)
		}
		if got := c.printed("resume", id, "--cwd", after, "in the new place [[hang]]"); got != id {
			t.Errorf("resumed %s as %s", id, got)
		}
		if got := asked(t, w, id); !slices.Equal(got, []string{"in the old place", "in the new place [[hang]]"}) {
			t.Errorf("asked was %q", got)
		}
		if s := c.status(id); s.CWD != after || lastSettings(t, w, id).CWD != after {
			t.Errorf("it works in %s, and its turn in %s", s.CWD, lastSettings(t, w, id).CWD)
		}
		if !strings.Contains(string(w.WaitCall("in the new place", 0).Body), "in the old place") {
			t.Error("the model does not get the history")
		}
		if _, errs, code := c.run("stop", id); code != 0 {
			t.Errorf("stop: exit code %d\n%s", code, errs)
		}

		// In a terminal likewise.
		last := a.Dir() + "-last"
		w.Trust(last)
		if err := os.Rename(after, last); err != nil {
			t.Fatal(err)
		}
		waits, submits, end := c.inTerminal(a, "resume", id, "--cwd", last)
		defer end()
		waits("in the old place")
		submits("in the last place")
		waits("OK: in the last place")
		if s := c.status(id); s.CWD != last || lastSettings(t, w, id).CWD != last || count(t, w, id, "in the last place") != 1 {
			t.Errorf("it works in %s, and its turn in %s", s.CWD, lastSettings(t, w, id).CWD)
		}
	})
}

// inTerminal runs the program in a terminal. waits waits until the screen shows a text, submits types one, end ends the program.
func (c agentctl) inTerminal(a world.Agent, args ...string) (waits, submits func(text string), end func()) {
	c.t.Helper()
	cmd := exec.Command(os.Getenv(binary), args...)
	cmd.Env, cmd.Dir = a.Environ(), "/"
	terminal, err := term.Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	waits = func(text string) {
		c.t.Helper()
		if !poll(func() bool { screen, _ := terminal.Screen(); return term.Contains(screen, text) }) {
			screen, _ := terminal.Screen()
			c.t.Fatalf("no %q on the screen:\n%s", text, screen)
		}
	}
	send := func(text string) {
		c.t.Helper()
		if err := terminal.Send(text); err != nil {
			c.t.Fatal(err)
		}
	}
	submits = func(text string) {
		c.t.Helper()
		send(text)
		waits(text)
		send(string(term.Enter))
	}
	return waits, submits, func() {
		terminal.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
