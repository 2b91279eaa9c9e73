package realagents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/render"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// peek returns the last messages of a session.
func (c agentctl) peek(id string, flags ...string) []render.Message {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"peek", id, "--json"}, flags...)...)
	var messages []render.Message
	if err := json.Unmarshal([]byte(out), &messages); err != nil || code != 0 || errs != "" {
		c.t.Fatalf("peek %s: exit code %d, %v\n%s%s", id, code, err, out, errs)
	}
	return messages
}

// textsOf are what a role has said.
func textsOf(messages []render.Message, role string) (texts []string) {
	for _, m := range messages {
		if m.Role == role && m.Kind == "text" {
			texts = append(texts, *m.Text)
		}
	}
	return texts
}

// follower is an `agentctl logs --follow` beside the test.
type follower struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  bytes.Buffer
	told  []render.Message
}

func (c agentctl) follows(id string) *follower {
	c.t.Helper()
	f := &follower{t: c.t, cmd: exec.Command(os.Getenv(binary), "logs", "-f", "--json", id)}
	f.cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...)
	f.cmd.Stderr = &f.errs
	out, err := f.cmd.StdoutPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = f.cmd.Process.Kill(); _ = f.cmd.Wait() }) // it has ended, if all went well
	f.lines = bufio.NewScanner(out)
	f.lines.Buffer(nil, 1<<20)
	return f
}

// until reads what is told up to the message that is good. Nil: up to the end.
func (f *follower) until(good func(render.Message) bool) {
	f.t.Helper()
	for f.lines.Scan() {
		var m render.Message
		if err := json.Unmarshal(f.lines.Bytes(), &m); err != nil {
			f.t.Fatalf("%v\n%s", err, f.lines.Text())
		}
		if f.told = append(f.told, m); good != nil && good(m) {
			return
		}
	}
	if good != nil {
		f.t.Fatalf("it ends too soon: %+v\n%s", f.told, f.errs.String())
	}
}

// ends expects the exit code.
func (f *follower) ends(code int) {
	f.t.Helper()
	f.until(nil)
	err := f.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || f.cmd.ProcessState.ExitCode() != code {
		f.t.Errorf("logs -f: %v, want exit code %d\n%s", err, code, f.errs.String())
	}
}

// TestPeekAndLogsShowWhatIsSaid: "peek shows the last user and assistant texts exactly as stored", "a pending tool call …
// is shown as such", "-f until the session stops (exit code as wait)".
func TestPeekAndLogsShowWhatIsSaid(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w)
		tool := w.Tool(a.Dir())
		const words = "all is well,\n\n  and *more*: 日本 <b>&amp;</b>"
		prompt := "say it [[shell " + tool.Command + ";; text " + words + "]]"
		p := a.Run(prompt)
		tool.WaitRunning()
		id := idOf(t, w, a, "say it [[shell "+tool.Command)

		calls := func(m render.Message) bool { return m.Tool != nil && strings.Contains(m.Tool.Brief, tool.Command) }
		poll(func() bool { // the tool may run before its call is stored
			out, _, _ := c.run("peek", id, "--json")
			return strings.Contains(out, `"state":"running"`)
		})
		messages := c.peek(id)
		if got := textsOf(messages, "user"); len(got) != 1 || strings.Trim(got[0], "\"\n") != prompt { // OpenCode adds them
			t.Errorf("the person has said %q", got)
		}
		if last := messages[len(messages)-1]; !calls(last) || last.Tool.State != "running" || !strings.Contains(string(last.Tool.Input), "begun-") {
			t.Errorf("the pending call is %+v", last)
		}
		f := c.follows(id)
		f.until(calls)
		tool.End()
		if code := p.Wait(); code != 0 {
			t.Errorf("the agent's exit code is %d", code)
		}
		f.ends(0)
		if last := c.peek(id, "-n", "1"); len(last) != 1 || last[0].Text == nil || *last[0].Text != words {
			t.Errorf("the last words are %+v", last)
		}
		whole := c.peek(id, "-n", "0")
		if told := lastOfEach(f.told); asText(told) != asText(whole) {
			t.Errorf("told  %s\nwhole %s", asText(told), asText(whole))
		}

		p = a.Run("is killed [[hang]]")
		w.WaitCall("is killed", 0)
		killed := c.follows(idOf(t, w, a, "is killed [[hang]]"))
		killed.until(func(m render.Message) bool { return m.Role == "user" })
		p.Kill()
		killed.ends(1)
	})
}

// lastOfEach is what was told last of each message, in the order that they came in.
func lastOfEach(told []render.Message) (out []render.Message) {
	at := map[string]int{}
	for _, m := range told {
		if i, again := at[m.ID]; again {
			out[i] = m
			continue
		}
		at[m.ID] = len(out)
		out = append(out, m)
	}
	return out
}

func asText(messages []render.Message) string {
	text, _ := json.MarshalIndent(messages, "", " ") // it was JSON before
	return string(text)
}

// TestLogsShowSubAgents: "sub-agents with --children", each message with whose it is.
func TestLogsShowSubAgents(t *testing.T) {
	for _, r := range currentReleases() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			c, a := agentctlIn(t, w), w.Release(r)
			a.Run("has help [[agent [[text from below]];; text from above]]").Wait()
			id := idOf(t, w, a, "has help")
			below := func(m render.Message) bool {
				return m.Text != nil && strings.Contains(*m.Text, "from below") && m.Role != "user"
			}
			if r.Agent == install.Codex { // which does not wait for it: what it was asked is there for sure
				below = func(m render.Message) bool { return m.Text != nil && *m.Text == "[[text from below]]" }
			}
			family := c.peek(id, "-n", "0", "--children")
			if i := slices.IndexFunc(family, below); i < 0 || family[i].Session == id || family[i].Session == "" {
				t.Errorf("in %s is said\n%s", id, asText(family))
			}
			alone := c.peek(id, "-n", "0")
			if slices.ContainsFunc(alone, below) || len(alone) >= len(family) || *alone[len(alone)-1].Text != "from above" {
				t.Errorf("without --children\n%s", asText(alone))
			}
		})
	}
}
