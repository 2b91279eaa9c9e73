package realagents

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/realagents/install"
)

// A terminal holds all sessions that it has shown: each has a row, and all end together, only by force. What each waits for is what the
// dialog shows; a terminal that is closed in mid-turn has not completed it.
func TestCopilotTerminal(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	tui := a.TUI()
	pid := tui.PID()
	if rows := c.expect([]string{row(c.onlyID(), pid, "idle")}); rows[0].Evidence.Strength != "exact" {
		t.Errorf("untouched: %+v", rows[0].Evidence)
	}
	tui.Submit("the harbour light")
	tui.WaitFor("OK: the harbour light")
	first := copilotID(t, w, "the harbour light")
	c.expect([]string{row(first, pid, "idle")})
	tui.Submit("/new")
	if !poll(func() bool { return len(c.list()) == 2 }) {
		t.Fatalf("%q, want two sessions of one terminal", rowsOf(c.list()))
	}
	submit(w, tui, "asks [[question Which way?;; shell touch asked]]")
	second := copilotID(t, w, "asks [[question")
	c.expect([]string{row(first, pid, "idle"), row(second, pid, "waiting question")})
	if on := c.status(second).WaitingOn; on == nil || len(on.Questions) != 1 || on.Questions[0] != "Which way?" {
		t.Errorf("it waits on %+v", on)
	}
	c.exits(5, "--force", "stop", second)
	c.exits(5, "live", "resume", first, "goes on")
	c.exits(5, "live", "rm", "--yes", first)
	c.exits(7, "--ui-server", "send", first, "hello")
	tui.HangUp()
	c.expect([]string{row(first, 0, "stopped completed"), row(second, 0, "stopped interrupted")}, "-a")
	c.does("rm", "--yes", first, second)
	c.expect(nil, "-a", "--since", "all")
}

// A run that is ended by a signal exits with 0, and leaves its files behind: it is interrupted. A command of a sub-agent has an ID that is
// stored nowhere: it runs inside of the session of its process. Whoever kills npm's launcher does not end the agent.
func TestCopilotRuns(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	tool, said := w.Tool(a.Dir()), a.Dir()+"/said"
	run := a.Run("has help [[agent do it [[shell " + os.Getenv(binary) + " current -q > " + said + " 2>&1; " + tool.Command + "]];; text done]]")
	tool.WaitRunning()
	id := copilotID(t, w, "has help")
	c.expect([]string{row(id, run.PID(), "running")})
	if raw, err := os.ReadFile(said); err != nil || strings.TrimSpace(string(raw)) != id {
		t.Errorf("current prints %q, %v; the session is %s", raw, err, id)
	}
	run.Signal(syscall.SIGTERM)
	if code := run.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	c.does("rm", "--yes", id)

	launcher := a
	launcher.Native = a.Shim[0]
	shimmed := launcher.Run("by a launcher [[hang]]")
	w.WaitCall("by a launcher", 0)
	id = copilotID(t, w, "by a launcher")
	agent := c.status(id).PID
	shimmed.Kill()
	if agent == shimmed.PID() || !living(agent) {
		t.Errorf("the agent is %d, its launcher %d", agent, shimmed.PID())
	}
	c.expect([]string{row(id, agent, "running")})
	c.does("stop", id)
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
}

// A session that goes on in another directory stays there, in lists too.
func TestCopilotElsewhere(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	id := c.launched("copilot", "-p", "begun here")
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	elsewhere := w.Dir("elsewhere")
	c.does("resume", id, "--cwd", elsewhere, "--wait", "goes on there")
	for _, where := range []string{c.list("-a")[0].CWD, c.status(id).CWD} {
		if where != elsewhere {
			t.Errorf("it is in %s, begun in %s", where, a.Dir())
		}
	}
	if got := fmt.Sprint(prompts(t, w, a, id, 2)); got != "[begun here goes on there]" {
		t.Error(got)
	}
}

// A terminal of Pi is a row without an ID until it is known which session it shows: the first one of its own, or that of a tool that runs. Once
// another session of its directory was written, nothing tells. None is resumed then that the terminal may run.
func TestPiTerminal(t *testing.T) {
	w, a, c := newest(t, install.Pi)
	tui := a.TUI()
	pid := tui.PID()
	c.expect([]string{row("null", pid, "idle")})
	tui.Submit("the harbour light")
	tui.WaitFor("OK: the harbour light")
	id := piID(t, w, "the harbour light")
	if rows := c.expect([]string{row(id, pid, "idle")}); rows[0].Evidence.Strength != "strong" {
		t.Errorf("%+v", rows[0].Evidence)
	}
	tool := w.Tool(a.Dir())
	tui.Submit("tool at work [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	if rows := c.expect([]string{row(id, pid, "running")}); rows[0].Evidence.Strength != "exact" {
		t.Errorf("%+v", rows[0].Evidence)
	}
	tool.End()
	c.expect([]string{row(id, pid, "idle")})

	launched := c.printed("launch", "pi", "--wait", "--quiet", "-p", "launched beside it")
	ended := row(launched, 0, "stopped completed")
	a.Run("run beside it").Wait()
	other := piID(t, w, "run beside it")
	c.expect([]string{row("null", pid, "idle"), row(id, 0, "stopped completed"), row(other, 0, "stopped completed"), ended}, "-a")
	for _, session := range []string{id, other, launched} {
		c.exits(5, "may be open in pid", "resume", session, "goes on")
	}
	c.does("resume", other, "--force", "--wait", "goes on")
	tui.Submit("without an end [[hang]]")
	w.WaitCall("without an end", 0)
	c.expect([]string{row("null", pid, "running"), row(id, 0, "unknown"), row(other, 0, "stopped completed"), ended}, "-a")
	tui.Kill()
	c.expect([]string{row(id, 0, "stopped interrupted"), row(other, 0, "stopped completed"), ended}, "-a")
}

// One ID names a session in each directory: ID@DIR means one of them. It continues by its file, in its own directory.
func TestPiOneIDInTwoDirectories(t *testing.T) {
	w, a, c := newest(t, install.Pi)
	b := a.In(w.Dir("elsewhere"))
	a.Run("asked here", "--session-id", "twin").Wait()
	b.Run("asked elsewhere", "--session-id", "twin").Wait()
	if _, errs, code := c.run("status", "twin"); code == 0 || !strings.Contains(errs, "matches 2 sessions") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	for dir, prompt := range map[string]string{a.Dir(): "asked here", b.Dir(): "asked elsewhere"} {
		if s := c.status("twin@" + dir); s.CWD != dir || s.Prompt != prompt {
			t.Errorf("%s has %q of %s", dir, s.Prompt, s.CWD)
		}
	}
	c.dir = t.TempDir()
	c.does("resume", "twin@"+b.Dir(), "and on [[shell pwd]]", "--wait")
	messages := c.peek("twin@"+b.Dir(), "-n", "0")
	i := slices.IndexFunc(messages, func(m object.Message) bool { return m.Tool != nil })
	if i < 0 || messages[i].Tool.Output == nil || *messages[i].Tool.Output != b.Dir()+"\n" || len(c.peek("twin@"+a.Dir(), "-n", "0")) != 2 {
		t.Errorf("it continues with %s", asText(messages))
	}
}

// The cost of a session is what Pi computes of its answers, in status and in usage. A copy has its own alone.
func TestPiCost(t *testing.T) {
	const answer = (1000*3 + 50*15 + 11*0.3 + 7*3.75) / 1e6 // USD, by the prices of the world's model
	_, _, c := newest(t, install.Pi)
	id := c.printed("launch", "pi", "--wait", "--quiet", "-p", "counts [[shell echo]]")
	fork := c.printed("resume", id, "--fork", "--wait", "--quiet", "counts on")
	for session, answers := range map[string]float64{id: 2, fork: 1} {
		if cost := c.status(session).Cost; cost == nil || math.Abs(*cost-answers*answer) > 1e-9 {
			t.Errorf("%v of %v answers, want %v", cost, answers, answers*answer)
		}
	}
	var used struct {
		Total struct{ Cost float64 }
	}
	if c.answer(&used, "usage", "--adapter", "pi"); math.Abs(used.Total.Cost-3*answer) > 1e-9 {
		t.Errorf("usage has %v", used.Total.Cost)
	}
}
