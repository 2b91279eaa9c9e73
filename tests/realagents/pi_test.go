package realagents

import (
	"math"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/realagents/install"
)

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
