package realagents

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/debian"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// everyAgent is a world with the newest releases of three agents, for one person who has all of them, each in a directory of its own.
func everyAgent(t *testing.T) (w *world.World, c agentctl, byName map[string]world.Agent) {
	t.Helper()
	w, byName = world.New(t), map[string]world.Agent{}
	c = agentctlIn(t, w)
	var paths []string
	for _, r := range install.Newest() {
		if r.Agent != install.ClaudeCode && r.Agent != install.Codex && r.Agent != install.OpenCode {
			continue
		}
		a := w.Release(r)
		byName[r.Agent], c.env, c.dir = a, a.Environ(), w.Home
		for _, variable := range c.env {
			if path, ok := strings.CutPrefix(variable, "PATH="); ok {
				paths = append(paths, path)
			}
		}
	}
	c.env = append(c.env, "PATH="+strings.Join(paths, ":"))
	return w, c, byName
}

// killAll kills what runs the sessions, all at once.
func killAll(t *testing.T, c agentctl) {
	t.Helper()
	var pids []int
	for _, s := range c.list() {
		pids = append(pids, s.AllPIDs()...)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // a client ends with its server
	}
	if !poll(func() bool { return len(c.list()) == 0 }) {
		t.Fatalf("still live: %v", rowsOf(c.list()))
	}
}

// resumeResults decodes what resume says of several sessions: the IDs by their results.
func resumeResults(t *testing.T, printed []byte) (resumed, others []string) {
	t.Helper()
	var list []object.ResumeResult
	if err := json.Unmarshal(printed, &list); len(bytes.TrimSpace(printed)) > 0 && err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	for _, r := range list {
		if r.Result == "resumed" {
			resumed = append(resumed, r.ID)
		} else {
			others = append(others, r.ID+" "+r.Result+": "+r.Message)
		}
	}
	return resumed, others
}

// TestRestore: of sessions of three agents in all states, those that were cut off come back, each once, with their history: also if two
// ask at once, and in windows of tmux.
func TestRestore(t *testing.T) {
	w, c, agents := everyAgent(t)
	var cut []string
	for _, name := range []string{install.ClaudeCode, install.Codex, install.OpenCode} {
		c.dir = w.Dir("done-" + name)
		done := c.launched(name, "-p", "the whole turn", "--wait", "--quiet")
		if name == install.ClaudeCode {
			agents[name].In(c.dir).TUI("--resume", done)
			c.expect([]string{row(done, c.status(done).PID, "idle")})
		}
		c.dir = w.Dir("cut-" + name)
		cut = append(cut, c.launched(name, "-p", "the first turn [[hang]]"))
	}
	slices.Sort(cut)
	killAll(t, c)
	open := 0
	var got []string
	for _, s := range c.list("--since", "today") {
		if s.WasOpen {
			open++
		}
		if s.InterruptedIn != nil {
			got = append(got, *s.ID)
			if !strings.HasPrefix(s.InterruptedIn.Prompt, "the first turn") {
				t.Errorf("%s was cut off in %+v", *s.ID, *s.InterruptedIn)
			}
		}
	}
	if slices.Sort(got); !slices.Equal(got, cut) || open != 1 {
		t.Errorf("cut off were %q, listed are %q; %d were open", cut, got, open)
	}

	var both [2]bytes.Buffer
	var commands [2]*exec.Cmd
	for i := range commands {
		commands[i] = c.command("resume", "--interrupted", "--yes", "--json", "the second turn [[hang]]")
		commands[i].Stdout, commands[i].Stderr = &both[i], os.Stderr
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	var resumed []string
	for i := range commands {
		_ = commands[i].Wait() // one of them has resumed none
		ids, _ := resumeResults(t, both[i].Bytes())
		resumed = append(resumed, ids...)
	}
	if slices.Sort(resumed); !slices.Equal(resumed, cut) {
		t.Errorf("resumed were %q of %q:\n%s%s", resumed, cut, both[0].String(), both[1].String())
	}
	for _, id := range cut {
		var asked []string
		for _, m := range c.peek(id, "-n", "0") {
			if m.Role == "user" && m.Text != nil {
				asked = append(asked, *m.Text)
			}
		}
		if len(asked) != 2 || !strings.Contains(asked[0], "the first turn") || !strings.Contains(asked[1], "the second turn") {
			t.Errorf("%s was asked %q", id, asked)
		}
	}

	killAll(t, c)
	root, err := debian.Ensure(t.Context(), debian.Tmux())
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := root.Script(filepath.Join(bin, "tmux"), debian.Tmux().Files[0]); err != nil {
		t.Fatal(err)
	}
	path := c.env[len(c.env)-1]
	c.env = append(c.env, "PATH="+bin+":"+strings.TrimPrefix(path, "PATH="), "TMUX_TMPDIR="+bin)
	tmux := func(args ...string) string {
		cmd := exec.Command(filepath.Join(bin, "tmux"), args...)
		cmd.Env = c.env
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	defer tmux("kill-server")
	out, errs, code := c.run("resume", "--interrupted", "--yes", "--json", "--tmux=back")
	resumed, others := resumeResults(t, []byte(out))
	if slices.Sort(resumed); code != 0 || !slices.Equal(resumed, cut) {
		t.Errorf("in tmux: exit code %d, resumed were %q of %q, %q\n%s\n%s", code, resumed, cut, others, errs, tmux("list-windows", "-a"))
	}
	if windows := strings.Count(tmux("list-windows", "-t", "back"), "\n"); windows != len(cut) {
		t.Errorf("%d windows:\n%s", windows, tmux("list-windows", "-t", "back"))
	}
	if again := c.exits(0, "", "resume", "--interrupted", "--yes", "--json", "--tmux=back"); strings.TrimSpace(again) != "[]" {
		t.Errorf("once more: %s", again)
	}
}
