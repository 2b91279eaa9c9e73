package realagents

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/tests/model"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeTakesMessages by its server: during a turn, while it waits for the user, when it is idle, large ones, several of the
// same text at once. The user's message is for the agent and the model that the session has. None is lost, and none is called
// delivered that is not.
func TestOpenCodeTakesMessages(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		server := a.Serve()
		base := serverURL(t, server)
		c.midTurn(w, a, base)
		c.whileWaiting(w, a, base, server.PID())
		id := c.answered(w, a, base, "first")
		c.sendsTraced("", id, "the second")
		c.expectStatus(id, "idle")
		c.allAtOnce(w, a, id)
		c.largeOne(w, a, id)
		c.atTheEndOfTurns(w, a, base)

		suspended := c.answered(w, a, base, "suspended")
		server.Signal(syscall.SIGSTOP)
		if _, errs, code := c.run("send", "--timeout", "2s", suspended, "unheard"); code != 124 || !strings.Contains(errs, "whether it has the message is not known") {
			t.Errorf("to a process that does not run: exit code %d\n%s", code, errs)
		}
		c.endsMeanwhile(suspended, server, base)
		if _, errs, code := c.run("send", id, "too late"); code != 5 || !strings.Contains(errs, "agentctl resume") {
			t.Errorf("to a stopped session: exit code %d\n%s", code, errs)
		}
	})
}

// endsMeanwhile: a server that does not run has not accepted the connection yet when it is killed.
func (c agentctl) endsMeanwhile(id string, server *world.Process, base string) {
	c.t.Helper()
	cmd := exec.Command(os.Getenv(binary), "send", id, "never read")
	var out strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append([]string{"HOME=" + c.home}, c.env...), c.dir, &out, &out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if !poll(func() bool { return isConnecting(c.t, base) }) {
		c.t.Error("send does not connect to the server")
	}
	server.Kill()
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), "the agent has not accepted the message: ") {
		c.t.Errorf("to a server that is killed: exit code %d\n%s", cmd.ProcessState.ExitCode(), out.String())
	}
}

// isConnecting reports whether a client has connected to the server at base, which has not accepted the connection yet.
func isConnecting(t *testing.T, base string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	at, err2 := url.Parse(base)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line) // the fields 1, 3 and 9 are the local address, the state and the inode, which is 0 before accept(2)
		if len(f) > 9 && f[1] == fmt.Sprintf("0100007F:%04X", port) && f[3] == "01" && f[9] == "0" {
			return true
		}
	}
	return false
}

// delivers sends a message, which must be delivered.
func (c agentctl) delivers(id, text string) {
	c.t.Helper()
	if out, errs, code := c.run("send", id, text); code != 0 || out != id+"  delivered\n" {
		c.t.Errorf("send %.40q: exit code %d\n%s%s", text, code, out, errs)
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

// midTurn: the model gets the message with its next call, and the tool goes on meanwhile.
func (c agentctl) midTurn(w *world.World, a world.Agent, base string) {
	c.t.Helper()
	tool := w.Tool(a.Dir())
	id := ask(c.t, base, a.Dir(), "works [[shell "+tool.Command+"]]")
	tool.WaitRunning()
	c.expectStatus(id, "running")
	c.delivers(id, "a note meanwhile")
	if out, _, _ := c.run("peek", id); !strings.Contains(out, "running") || !strings.Contains(out, "a note meanwhile") {
		c.t.Errorf("peek shows no running tool:\n%s", out)
	}
	if got := c.status(id); got.Status != "running" || got.Meta.Get("turnDetail") != "tool: bash" {
		c.t.Errorf("during the turn it is %s, %v", got.Status, got.Meta.Get("turnDetail"))
	}
	calls := len(w.Model.Requests())
	tool.End()
	c.expectStatus(id, "idle")
	got := false
	for _, q := range w.Model.Requests()[calls:] {
		got = got || strings.Contains(string(q.Body), "a note meanwhile")
	}
	if !got {
		c.t.Error("the model did not get the note")
	}
}

// whileWaiting: the question and the permission stay open, and are shown as before.
func (c agentctl) whileWaiting(w *world.World, a world.Agent, base string, pid int) {
	c.t.Helper()
	id := ask(c.t, base, a.Dir(), "asks [[question Which color?]]")
	c.expectStatus(id, "waiting")
	c.delivers(id, "perhaps blue")
	got := c.status(id)
	if on := got.WaitingOn; rowOf(got) != row(id, pid, "waiting question") || on == nil || len(on.Questions) != 1 || on.Questions[0] != "Which color?" {
		c.t.Errorf("after a message it is %s, and waits on %+v", rowOf(got), on)
	}

	dir := w.Dir("asking")
	if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		c.t.Fatal(err)
	}
	id = ask(c.t, base, dir, "wants [[shell touch made]]")
	c.expectStatus(id, "waiting")
	c.delivers(id, "perhaps not")
	got = c.status(id)
	if on := got.WaitingOn; rowOf(got) != row(id, pid, "waiting permission") || on == nil || on.Brief != "touch made" {
		c.t.Errorf("after a message it is %s, and waits on %+v", rowOf(got), on)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		c.t.Error("the command has run")
	}
}

// allAtOnce: several senders of the same text are told apart.
func (c agentctl) allAtOnce(w *world.World, a world.Agent, id string) {
	c.t.Helper()
	const senders = 6
	ids := make([]string, senders)
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			out, errs, code := c.run("send", "--timeout", "20s", "--json", id, "the same")
			_, rest, _ := strings.Cut(out, `"message":{"id":"`)
			ids[i], _, _ = strings.Cut(rest, `"`)
			if strings.Contains(errs, leftToTheNextPrompt) && code == 124 { // the agent may do that with the last one
				ids[i] = fmt.Sprint(i)
			} else if code != 0 || !strings.HasPrefix(ids[i], "prt_") {
				c.t.Errorf("sender %d: exit code %d\n%s%s", i, code, out, errs)
			}
		})
	}
	all.Wait()
	distinct := map[string]bool{}
	for _, one := range ids {
		distinct[one] = true
	}
	got := userMessages(c.t, w, id)
	same := 0
	for _, m := range got {
		if m.text == "the same" {
			same++
		}
	}
	if len(distinct) != senders || same != senders {
		c.t.Errorf("%d messages as %d, of %d senders", same, len(distinct), senders)
	}
	c.expectStatus(id, "idle")
}

// leftToTheNextPrompt is what send says of a message that the agent has stored too late for the turn, and asks the model nothing for.
const leftToTheNextPrompt = "the transcript has it, and the model has not been asked"

// atTheEndOfTurns sends messages while turns begin and end. The model has got what is delivered. What the agent has only stored is not called
// delivered, and the model gets it with the next prompt.
func (c agentctl) atTheEndOfTurns(w *world.World, a world.Agent, base string) {
	c.t.Helper()
	id := c.answered(w, a, base, "turns")
	hasGot := func(text string) bool {
		return slices.ContainsFunc(w.Model.Requests(), func(q model.Request) bool { return strings.Contains(string(q.Body), text) })
	}
	for i := range 3 {
		prompt, text := fmt.Sprintf("prompt-%d [[delay %dms]]", i, 1+150*i), fmt.Sprintf("message-%d-", i)
		prompted := make(chan string)
		go func() {
			_, errs, _ := c.run("send", "--timeout", "20s", id, prompt)
			prompted <- errs
		}()
		_, errs, code := c.run("send", "--timeout", "5s", id, text)
		switch {
		case code == 0 && !poll(func() bool { return hasGot(text) }):
			c.t.Errorf("%s is delivered, and the model did not get it", text)
		case code == 124 && strings.Contains(errs, leftToTheNextPrompt):
			c.t.Logf("%s: %s", text, errs)
			if stored := userMessages(c.t, w, id); !slices.ContainsFunc(stored, func(m userMessage) bool { return m.text == text }) {
				c.t.Errorf("%s is not stored: %v", text, stored)
			}
		case code != 0:
			c.t.Errorf("exit code %d\n%s", code, errs)
		}
		if errs := <-prompted; errs != "" && !strings.Contains(errs, leftToTheNextPrompt) {
			c.t.Errorf("%s: %s", prompt, errs)
		}
	}
}

// largeOne sends 300 KB by stdin to a session with a mode of work and a model of its own.
func (c agentctl) largeOne(w *world.World, a world.Agent, id string) {
	c.t.Helper()
	text := "a large one " + strings.Repeat("0123456789\n", 300<<10/11) + "\t\"quoted\" \\ <b> \u00e9\U0001f600 end"
	cmd := exec.Command(os.Getenv(binary), "send", id, "-")
	cmd.Env, cmd.Dir, cmd.Stdin = append([]string{"HOME=" + c.home}, c.env...), c.dir, strings.NewReader(text+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Errorf("300 KB: %v\n%s", err, out)
	}
	if a.Version == install.OpenCodeCurrent {
		w.WaitCall("a large one", 0)
	}
	got := userMessages(c.t, w, id)
	if last := got[len(got)-1]; last.text != text || last.agent != "build" || last.model != "anthropic/claude-sonnet-4-5" {
		c.t.Errorf("it has %d of %d bytes, for %s and %s", len(last.text), len(text), last.agent, last.model)
	}
	if _, errs, code := c.run("send", id, "\x1b[2Jgone"); code != 2 || !strings.Contains(errs, "control character") {
		c.t.Errorf("an escape sequence: exit code %d\n%s", code, errs)
	}
}

// TestOpenCodeKeepsTheModeOfASession that is sent a message, instead of the default one.
func TestOpenCodeKeepsTheModeOfASession(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		a.Run("made", "--agent", "plan", "--model", "anthropic/claude-haiku-4-5").Wait()
		id := idOf(t, w, a, "made")
		tui := a.Terminal("--port", "0", "--session", id)
		tui.WaitFor("OK: made")
		tui.Submit("in a terminal")
		w.WaitCall("in a terminal", 0)
		c.expect([]string{row(id, tui.PID(), "idle")})
		_, errs, code := c.run("send", "--timeout", "20s", id, "sent into the terminal")
		switch {
		case code == 0:
			w.WaitCall("sent into the terminal", 0)
			tui.WaitFor("OK: sent into the terminal")
		case code != 124 || !strings.Contains(errs, leftToTheNextPrompt): // as may happen if the last turn has only just ended
			t.Errorf("exit code %d\n%s", code, errs)
		}
		got := userMessages(t, w, id)
		typed, sent := got[len(got)-2], got[len(got)-1]
		if sent.text != "sent into the terminal" || sent.agent != typed.agent || sent.model != typed.model || sent.model != "anthropic/claude-haiku-4-5" {
			t.Errorf("typed %+v, sent %+v", typed, sent)
		}
	})
}

// TestOpenCodeTakesNoMessages where it does not listen, or where somebody else does: exit 7 or 1, and nothing is sent.
func TestOpenCodeTakesNoMessages(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	refuses := func(id string, want int, says string) {
		t.Helper()
		before := len(userMessages(t, w, id))
		if _, errs, code := c.run("send", id, "x"); code != want || !strings.Contains(errs, says) {
			t.Errorf("exit code %d, want %d and %q\n%s", code, want, says, errs)
		}
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
	tui.Wait()

	locked := a.With("OPENCODE_SERVER_PASSWORD=secret").Serve()
	base := strings.Replace(serverURL(t, locked), "http://", "http://opencode:secret@", 1)
	id = c.answered(w, a, base, "with a password")
	refuses(id, 1, "asks for a password: set OPENCODE_SERVER_PASSWORD")
	c.env = append(c.env, "OPENCODE_SERVER_PASSWORD=wrong")
	refuses(id, 1, "does not take the password")
	c.env = append(c.env, "OPENCODE_SERVER_PASSWORD=secret")
	c.delivers(id, "with the password")
	locked.Kill()

	c.strangerHearsNothing(w, a, refuses)
}

// strangerHearsNothing: a server that listens on another address, and a stranger on its port on loopback.
func (c agentctl) strangerHearsNothing(w *world.World, a world.Agent, refuses func(id string, code int, says string)) {
	c.t.Helper()
	stranger, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	defer stranger.Close()
	heard := make(chan string)
	go func() {
		defer close(heard)
		for {
			conn, err := stranger.Accept()
			if err != nil {
				return
			}
			said := make([]byte, 1<<10)
			if n, _ := conn.Read(said); n > 0 {
				heard <- string(said[:n])
			}
			_ = conn.Close()
		}
	}()
	port := stranger.Addr().(*net.TCPAddr).Port
	server := a.Serve("--hostname", "127.0.0.2", "--port", fmt.Sprint(port))
	base := serverURL(c.t, server)
	if !strings.Contains(base, fmt.Sprintf("127.0.0.2:%d", port)) {
		c.t.Fatalf("it listens at %s", base)
	}
	id := c.answered(w, a, base, "elsewhere")
	refuses(id, 1, "another process than pid")
	_ = stranger.Close()
	for said := range heard {
		c.t.Errorf("the stranger hears %q", said)
	}
}
