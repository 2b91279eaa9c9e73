package realagents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/extent"
	"agentctl/tests/model"
	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
	"agentctl/tests/support/facts"
)

// support is what was seen of a release.
type support struct {
	release install.Release
	seen    map[string]facts.Seen
}

// TestSupport tries what docs/support.md lists, and prints what it has seen, a line of JSON for each fact. The release is the one that
// tests/support names, else the newest of each agent, and with -all the older ones too: of those docs/support.md must say the same.
func TestSupport(t *testing.T) {
	releases := install.Newest()
	switch asked := os.Getenv(facts.ReleaseVariable); {
	case asked != "":
		releases = []install.Release{install.ParseRelease(asked)}
	case extent.All():
		releases = install.Releases()
	}
	for _, r := range releases {
		t.Run(r.String(), func(t *testing.T) { trySupport(t, r, os.Getenv(facts.ReleaseVariable) == "") })
	}
}

func trySupport(t *testing.T, r install.Release, compare bool) {
	s := &support{release: r, seen: map[string]facts.Seen{}}
	for _, try := range []func(*testing.T, *world.World, world.Agent, agentctl){s.headless, s.launched, s.inTerminal} {
		t.Run("", func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			try(t, w, a, agentctlIn(t, w).as(a))
		})
	}
	if len(s.seen) == 0 && !t.Failed() {
		t.Skip("the agent is not installed") // as each part was
	}
	var results []string
	for _, f := range facts.All() {
		seen, ok := s.seen[f.Name]
		if !ok {
			seen = facts.Seen{Result: "no", Why: "what precedes it has failed"}
		}
		seen.Agent, seen.Version, seen.Fact = r.Agent, r.Version, f.Name
		line, err := json.Marshal(seen)
		must.Do(t, err)
		fmt.Println(string(line))
		results = append(results, seen.Result)
	}
	if got := strings.Join(results, " | "); compare && documented(t, r) != got {
		t.Errorf("seen is %q, docs/support.md has %q", got, documented(t, r))
	}
}

// documented is what docs/support.md has of a release, whose version no other agent has.
func documented(t *testing.T, r install.Release) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/support.md")
	must.Do(t, err)
	_, row, _ := strings.Cut(string(page), "\n| "+r.Version+" | ")
	row, _, _ = strings.Cut(row, " |\n")
	_, results, _ := strings.Cut(row, " | ") // after the day
	return results
}

// is stores a fact: what was seen instead, if it does not hold.
func (s *support) is(name string, holds bool, format string, args ...any) {
	seen := facts.Seen{Result: facts.Yes}
	if !holds {
		seen = facts.Seen{Result: "no", Why: fmt.Sprintf(format, args...)}
	}
	if before, again := s.seen[name]; !again || before.Result == facts.Yes {
		s.seen[name] = seen
	}
}

// becomes stores a fact that holds a moment after what caused it.
func (s *support) becomes(name string, holds func() (bool, string)) {
	var why string
	ok := poll(func() (ok bool) { ok, why = holds(); return ok })
	s.is(name, ok, "%s", why)
}

// hasRow reports whether the list has this row and no other.
func (c agentctl) hasRow(want string, args ...string) func() (bool, string) {
	return func() (bool, string) {
		got := strings.Join(rowsOf(c.list(args...)), ", ")
		return got == want, fmt.Sprintf("list has %q, want %q", got, want)
	}
}

// bare are the arguments by which an agent runs its tools without asking and without a sandbox.
func bare(a world.Agent) []string {
	switch a.Agent() {
	case install.ClaudeCode:
		return []string{"--permission-mode", "default"} // 2.1.300 has a model judge each command by default, and refuses it without a judgement
	case install.Codex:
		return []string{"--dangerously-bypass-approvals-and-sandbox"}
	}
	return nil
}

// headless tries runs that the user has started: one with a tool, one that fails, one that is killed.
func (s *support) headless(t *testing.T, w *world.World, a world.Agent, c agentctl) {
	tool, said := w.Tool(a.Dir()), a.Dir()+"/said"
	const answer = "all is well,\n\n  and *more*: 日本 <b>&amp;</b>"
	prompt := "tried [[shell " + os.Getenv(binary) + " current -q > " + said + " 2>&1; " + tool.Command + ";; text " + answer + "]]"
	p := a.Run(prompt, bare(a)...)
	tool.WaitRunning()
	id := idOf(t, w, a, "tried [[")
	s.becomes("listed", c.hasRow(row(id, p.PID(), "running")))
	strength := ""
	if rows := c.list(); len(rows) == 1 && rows[0].Evidence != nil {
		strength = rows[0].Evidence.Strength
	}
	s.seen["evidence"] = facts.Seen{Result: strength}
	raw, err := os.ReadFile(said)
	s.is("current", err == nil && strings.TrimSpace(string(raw)) == id, "current prints %q, %v; the session is %s", raw, err, id)
	s.becomes("messages", func() (bool, string) {
		messages := c.peek(id, "-n", "0")
		if len(messages) == 0 {
			return false, "no messages"
		}
		last := messages[len(messages)-1]
		got := textsOf(messages, "user")
		return len(got) == 1 && strings.Trim(got[0], "\"\n") == prompt && // OpenCode adds them
			last.Tool != nil && last.Tool.State == "running" && strings.Contains(last.Tool.Brief, tool.Command), asText(messages)
	})
	s.knownRecords(c)
	tool.End()
	p.Wait()
	s.becomes("outcome", c.hasRow(row(id, 0, "stopped completed"), "-a"))
	last := c.peek(id, "-n", "1")
	s.is("messages", len(last) == 1 && last[0].Text != nil && *last[0].Text == answer, "the last words are %s", asText(last))
	s.tokens(w, c, p, id)

	a.Run("refused [[error 400]]").Wait()
	s.becomes("error", func() (bool, string) {
		got := c.status(idOf(t, w, a, "refused [["))
		return got.Outcome == "error", fmt.Sprintf("%s, %q", rowOf(got), got.Error)
	})

	tool = w.Tool(a.Dir())
	killed := a.Run("killed [[shell "+tool.Command+"]]", bare(a)...)
	tool.WaitRunning()
	id = idOf(t, w, a, "killed [[")
	c.expect([]string{row(id, killed.PID(), "running")})
	killed.Kill()
	got := rowOf(c.status(id))
	s.is("outcome", got == row(id, 0, "stopped interrupted"), "after kill -9: %s", got)
}

// tokens compares a session's tokens with what the model counted for its answers. Claude Code may count what it asks beside the
// turn, too, and states what it counts.
func (s *support) tokens(w *world.World, c agentctl, p *world.Process, id string) {
	answers := served(w, func(q model.Request) bool { return !q.Side })
	got := c.status(id).Tokens
	if got == nil {
		s.is("tokens", false, "none")
		return
	}
	total := answers * map[string]int64{install.ClaudeCode: answerTokens, install.OpenCode: answerTokens, install.Pi: answerTokens, install.Copilot: answerTokens, install.Codex: 1050}[s.release.Agent]
	holds := answers > 0 && got.Total == total
	if !holds && s.release.Agent == install.ClaudeCode {
		holds = claudeFigures{got.In, got.Out, got.CacheRead, got.CacheWrite} == lastResult(c.t, p).session()
	}
	s.is("tokens", holds, "%+v, of %d answers", got, answers)
}

// launched tries what agentctl starts itself.
func (s *support) launched(t *testing.T, w *world.World, a world.Agent, c agentctl) {
	tool := w.Tool(a.Dir())
	var flags []string
	switch a.Agent() {
	case install.ClaudeCode:
		settings := w.Home + "/.claude/settings.json"
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte(`{"permissions":{"allow":["Bash"],"defaultMode":"default"}}`), 0o600)))
	case install.Codex, install.Copilot:
		flags = []string{"--permissions", "full"}
	}
	args := slices.Concat([]string{"launch", a.Agent(), "-p", "launched [[shell " + tool.Command + "]]"}, flags)
	out, errs, code := c.run(args...)
	id := strings.TrimSpace(out)
	if code != 0 {
		s.is("launch", false, "exit code %d: %s", code, errs)
		return
	}
	tool.WaitRunning()
	stored, got := idOf(t, w, a, "launched [["), c.status(id)
	s.is("launch", id == stored && got.Status == "running", "printed %s, stored in %s: %s", id, stored, rowOf(got))

	out, errs, code = c.run("stop", id)
	left := ""
	poll(func() bool { // npm's launcher ends a moment after what it has launched
		left = strings.Join(inhabitants(w.Home), "; ")
		return left == ""
	})
	s.is("stop", code == 0 && left == "" && c.status(id).Status == "stopped", "exit code %d: %s%s, left: %s", code, out, errs, left)

	tool = w.Tool(a.Dir())
	args = slices.Concat([]string{"resume", id, "goes on [[shell " + tool.Command + "]]"}, flags)
	out, errs, code = c.run(args...)
	if code != 0 {
		s.is("resume", false, "exit code %d: %s", code, errs)
		return
	}
	tool.WaitRunning()
	stored, got = idOf(t, w, a, "goes on [["), c.status(id)
	s.is("resume", strings.TrimSpace(out) == id && stored == id && got.Status == "running", "printed %s, stored in %s: %s", out, stored, rowOf(got))
}

// inTerminal tries the agent's full-screen interface.
func (s *support) inTerminal(t *testing.T, w *world.World, a world.Agent, c agentctl) {
	var args []string
	prompt := "asks [[shell touch q]]"
	switch a.Agent() {
	case install.ClaudeCode:
		args = []string{"--permission-mode", "default"} // newer ones would decide by themselves
	case install.Codex:
		prompt = "asks [[escalate touch q]]"
	case install.Copilot:
		args = []string{"--ui-server"} // it listens only if told to
	case install.OpenCode: // which asks for nothing else, and listens only if told to
		args = []string{"--port", "0"}
		must.Do(t, os.WriteFile(a.Dir()+"/opencode.json", []byte(`{"permission":{"bash":"ask"}}`), 0o600))
	}
	tui := a.TUI(args...)
	submit(w, tui, "in a terminal")
	id := idOf(t, w, a, "in a terminal")
	pid := tui.PID()
	s.becomes("idle", c.hasRow(row(id, pid, "idle")))

	poll(func() bool { // OpenCode writes its log a second late
		e := c.status(id).Evidence
		return e != nil && e.Strength == facts.Exact || a.Agent() != install.OpenCode
	})
	_, errs, code := c.run("send", id, "handed over")
	if code == 124 && strings.Contains(errs, leftToTheNextPrompt) { // the turn before was just ending
		_, errs, code = c.run("send", id, "handed over")
	}
	s.is("send", code == 0, "exit code %d: %s", code, errs)
	if code == 0 {
		w.WaitCall("handed over", 0)
		s.becomes("send", c.hasRow(row(id, pid, "idle")))
	}

	submit(w, tui, prompt)
	if a.Agent() == install.Pi {
		s.is("waiting", false, "it asks for nothing")
		s.knownRecords(c)
		return
	}
	s.becomes("waiting", func() (bool, string) {
		ok, why := c.hasRow(row(id, pid, "waiting permission"))()
		if on := c.status(id).WaitingOn; ok && (on == nil || on.Brief != "touch q") {
			return false, fmt.Sprintf("it waits on %+v", on)
		}
		return ok, why
	})
	s.knownRecords(c)
}

// submit types a prompt and presses Enter until the model gets it: old versions of Claude Code take an Enter that follows the text at
// once for a line break.
func submit(w *world.World, tui *world.TUI, prompt string) {
	tui.Type(prompt)
	first, _, _ := strings.Cut(prompt, " [[")
	poll(func() bool {
		tui.Press(term.Enter)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err := w.Model.WaitRequest(ctx, func(q model.Request) bool { return !q.Side && strings.Contains(q.Prompt, first) })
		return err == nil
	})
}

// knownRecords asks doctor whether the live sessions have records of kinds that agentctl does not know.
func (s *support) knownRecords(c agentctl) {
	out, errs, code := c.run("doctor", "--json")
	var found struct {
		Agents []struct{ UnknownKinds []string }
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 {
		s.is("records", false, "doctor: exit code %d, %v: %s", code, err, errs)
		return
	}
	for _, a := range found.Agents {
		s.is("records", len(a.UnknownKinds) == 0, "kinds %q", a.UnknownKinds)
	}
}
