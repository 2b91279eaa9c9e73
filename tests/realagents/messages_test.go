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

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/replay"
)

// peek returns the last messages of a session.
func (c agentctl) peek(id string, flags ...string) []output.Message {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"peek", id, "--json"}, flags...)...)
	var messages []output.Message
	if err := json.Unmarshal([]byte(out), &messages); err != nil || code != 0 || errs != "" {
		c.t.Fatalf("peek %s: exit code %d, %v\n%s%s", id, code, err, out, errs)
	}
	return messages
}

// textsOf are what a role has said.
func textsOf(messages []output.Message, role string) (texts []string) {
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
	told  []output.Message
}

func (c agentctl) follows(id string, flags ...string) *follower {
	c.t.Helper()
	f := &follower{t: c.t, cmd: exec.Command(os.Getenv(binary), append([]string{"logs", "-f", "--json", id}, flags...)...)}
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
func (f *follower) until(good func(output.Message) bool) {
	f.t.Helper()
	for f.lines.Scan() {
		var m output.Message
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

		calls := func(m output.Message) bool { return m.Tool != nil && strings.Contains(m.Tool.Brief, tool.Command) }
		poll(func() bool { // the tool may run before its call is stored
			out, _, _ := c.run("peek", id, "--json")
			return strings.Contains(out, `"state":"running"`)
		})
		var messages []output.Message
		pending := func() bool { // OpenCode's files are written anew while the tool begins
			messages = c.peek(id)
			last := messages[len(messages)-1]
			return calls(last) && last.Tool.State == "running" && strings.Contains(string(last.Tool.Input), "begun-")
		}
		if !poll(pending) {
			t.Errorf("the pending call is not last: %s", asText(messages))
		}
		if got := textsOf(messages, "user"); len(got) != 1 || strings.Trim(got[0], "\"\n") != prompt { // OpenCode adds them
			t.Errorf("the user has said %q", got)
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
		killed.until(func(m output.Message) bool { return m.Role == "user" })
		p.Kill()
		killed.ends(1)
	})
}

func stops(e replay.Event, id string) bool {
	return e.Type == "session.stopped" && e.Session.ID != nil && *e.Session.ID == id
}

// lastOfEach is what was told last of each message, in the order that they came in.
func lastOfEach(told []output.Message) (out []output.Message) {
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

func asText(messages []output.Message) string {
	text, _ := json.MarshalIndent(messages, "", " ") // it was JSON before
	return string(text)
}

// TestSubAgentsAreFollowed: what a sub-agent says and does is told as it happens, with whose it is, and its own life among the
// events, if that is asked for.
func TestSubAgentsAreFollowed(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			c, a := agentctlIn(t, w), w.Release(r)
			tool, own := w.Tool(a.Dir()), w.Tool(a.Dir())
			told, plain := c.events("--children"), c.events()
			p := a.Run("has help [[agent do it [[shell " + tool.Command + "]];; shell " + own.Command + "]]")
			tool.WaitRunning()
			id := idOf(t, w, a, "has help")
			f := c.follows(id, "--children")
			var below string
			f.until(func(m output.Message) bool {
				below = m.Session
				return m.Session != id && m.Tool != nil && strings.Contains(m.Tool.Brief, tool.Command)
			})
			told.when("the sub-agent's beginning", func(e replay.Event) bool {
				return e.Type == "session.started" && e.Session.ID != nil && *e.Session.ID == below
			})
			if s := c.status(below); s.Status != "running" || s.PID != p.PID() {
				t.Errorf("the sub-agent at work is %s, of process %d", rowOf(s), p.PID())
			}
			tool.End()
			own.WaitRunning()
			own.End()
			p.Wait()
			f.ends(0)
			for _, ended := range []string{below, id} {
				told.when("the end of "+ended, func(e replay.Event) bool { return stops(e, ended) })
			}
			plain.when("the end of "+id, func(e replay.Event) bool { return stops(e, id) })
			for _, e := range plain.all() {
				if e.Session.ID != nil && *e.Session.ID == below {
					t.Errorf("%s of a sub-agent, which was not asked for", e.Type)
				}
			}
			if !slices.ContainsFunc(f.told, func(m output.Message) bool {
				return m.Session == id && m.Tool != nil && strings.Contains(m.Tool.Brief, own.Command)
			}) {
				t.Errorf("not told of the session's own: %s", asText(f.told))
			}
			told.interrupt()
			plain.interrupt()
		})
	}
}

// helped is a terminal of Claude Code that has answered, and a sub-agent of its works on in the background: it runs the tool.
func helped(w *world.World) (tui *world.TUI, tool *world.Tool) {
	a := w.Claude(install.ClaudeCurrent)
	tool = w.Tool(a.Dir())
	tui = a.TUI("--permission-mode", "default", "--allowedTools=Bash,Agent")
	tui.Submit("has help [[agent do it [[shell " + tool.Command + "]];; text from above]]")
	tool.WaitRunning()
	tui.WaitFor("from above")
	return tui, tool
}
