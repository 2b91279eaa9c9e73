package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// claudePrompt is one that a person gave, as Claude Code stored it.
type claudePrompt struct {
	Text, Mode, Dir string
}

// claudePrompts are the prompts in a session's only transcript, as soon as there are so many: they are written a moment
// after the fact.
func claudePrompts(t *testing.T, w *world.World, id string, n int) (list []claudePrompt) {
	t.Helper()
	path := claudeTranscript(t, w, id)
	poll(func() bool {
		list = storedPrompts(t, path)
		return len(list) >= n
	})
	return list
}

func storedPrompts(t *testing.T, path string) (list []claudePrompt) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1]
	for line := range bytes.Lines(whole) {
		var r struct {
			Type, Cwd, PermissionMode string
			IsMeta                    bool
			Message                   struct{ Content any }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %.200q", err, line)
		}
		if text, ok := r.Message.Content.(string); ok && r.Type == "user" && !r.IsMeta {
			list = append(list, claudePrompt{text, r.PermissionMode, r.Cwd})
		}
	}
	return list
}

// claudeTranscript is the file of a session.
func claudeTranscript(t *testing.T, w *world.World, id string) string {
	t.Helper()
	var paths []string
	poll(func() bool {
		paths, _ = filepath.Glob(filepath.Join(w.Home, ".claude", "projects", "*", id+".jsonl"))
		return len(paths) > 0
	})
	if len(paths) != 1 {
		t.Fatalf("%d transcripts of %s", len(paths), id)
	}
	return paths[0]
}

// TestClaudeLaunch: the printed ID is the session's, at once, whatever the prompt.
func TestClaudeLaunch(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for i, prompt := range []string{
			"--help marks-one [[hang]]",
			"-x 'marks' \"two\" $HOME `id`\n\n\ttäglich ☃ \U0001F600\r\nlast line [[hang]]\n",
			strings.Repeat("0123456789abcde\n", 300<<10/16) + "marks-three [[hang]]",
		} {
			file := filepath.Join(w.Home, "prompt")
			if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
				t.Fatal(err)
			}
			id := c.launched("claude-code", "--force", "--prompt-file", file)
			if s := c.status(id); s.Status != "running" || *s.ID != id || s.CWD != a.Dir() || !runsClaude(s.PID, a) {
				t.Errorf("status right after: %s in %s", rowOf(s), s.CWD)
			}
			line := strings.TrimSpace(prompt[strings.LastIndex(strings.TrimSpace(prompt), "\n")+1:])
			if inCommandLines(line) {
				t.Errorf("%q stands in a command line", line)
			}
			w.WaitCall(line, 0)
			if got := claudeID(t, w, line); got != id {
				t.Errorf("prompt %d is in %s, printed was %s", i, got, id)
			}
			if got := claudePrompts(t, w, id, 1); len(got) != 1 || got[0].Text != prompt {
				t.Errorf("stored is %.200q, asked was %.200q", got, prompt)
			}
			if out, errs, code := c.run("stop", id); code != 0 {
				t.Errorf("stop: exit code %d\n%s%s", code, out, errs)
			}
		}
		if rows := rowsOf(c.list()); len(rows) > 0 {
			t.Errorf("still live: %q", rows)
		}
	})
}

// runsClaude reports whether a process runs the release's program.
func runsClaude(pid int, a world.Agent) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	native, _ := filepath.EvalSymlinks(a.Native)
	return err == nil && exe == native
}

// TestClaudeLaunchFails: each failure is reported with the agent's own words, and leaves nothing that lives.
func TestClaudeLaunchFails(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		broken := filepath.Join(t.TempDir(), "claude")
		if err := os.WriteFile(broken, []byte("no program"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			args  []string
			env   string
			code  int
			words string
			id    bool // there is a session
		}{
			{[]string{"-p", "x [[error 404 not_found_error]]", "--model", "none"}, "", 1, "issue with the selected model (none)", true},
			{[]string{"-p", "x"}, "ANTHROPIC_API_KEY=", 1, "Not logged in", true},
			{[]string{"-p", "x [[error 401]]"}, "", 1, "Failed to authenticate", true},
			{[]string{"-p", "x [[error 400]]"}, "", 1, "API Error: 400", true},
			{[]string{"-p", "x", "--permissions", "full"}, "", 1, "cannot be used with root/sudo", false},
			{[]string{"-p", "x", "--", "--no-such-flag"}, "", 1, "unknown option '--no-such-flag'", false},
			{[]string{"-p", "x", "--", "--session-id", "x"}, "", 7, "agentctl chooses the session", false},
			{[]string{"-p", "x", "--cwd", "/no/such/directory"}, "", 2, "no such file or directory", false},
			{[]string{"-p", "x"}, "PATH=" + filepath.Dir(broken), 1, "exec format error", false},
			{[]string{"-p", "x"}, "PATH=/nowhere", 7, "not installed", false},
		} {
			other := c
			other.env = append(slices.Clone(c.env), f.env)
			out, errs, code := other.run(append([]string{"launch", "claude-code", "--force"}, f.args...)...)
			id := strings.TrimSpace(out)
			if id != "" && f.id && c.failed(id, f.words) && code == 0 {
				continue // it came back from a retry, or from a busy machine, when the launch was over
			}
			if code != f.code || !strings.Contains(errs, f.words) || id != "" && !f.id {
				t.Errorf("%q %s: exit code %d, want %d with %q\n%s%s", f.args, f.env, code, f.code, f.words, out, errs)
			}
			if rows := rowsOf(c.list()); len(rows) > 0 {
				t.Errorf("%q: there is %q", f.args, rows)
			}
		}
		// Nobody answers, which is no failure.
		id := c.launched("claude-code", "-p", "nobody answers [[delay]]")
		if s := c.status(id); s.Status != "running" {
			t.Error(rowOf(s))
		}
	})
}

// failed waits for the session's end with an error that has these words.
func (c agentctl) failed(id, words string) bool {
	c.t.Helper()
	var s session
	good := poll(func() bool {
		s = c.status(id)
		return s.Outcome == "error" && strings.Contains(s.Error, words)
	})
	if !good {
		c.t.Errorf("the session is %s with %q, and should have failed with %q", rowOf(s), s.Error, words)
	}
	return good
}

// TestClaudeBehindLaunchers: S7. The command in PATH may be a script, and that start npm's launcher.
func TestClaudeBehindLaunchers(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		start := append([]string{a.Native}, a.Shim...)
		if a.Shim != nil {
			start = a.Shim
		}
		bin := t.TempDir()
		script := "#!/bin/sh\n" + strings.Join(start, " ") + " \"$@\"\nexit $?\n"
		if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		c.env = append(c.env, "PATH="+bin+":"+os.Getenv("PATH"))
		id := c.launched("claude-code", "-p", "behind launchers [[hang]]")
		w.WaitCall("behind launchers", 0)
		s := c.status(id)
		if got := claudeID(t, w, "behind launchers [[hang]]"); got != id || s.Status != "running" {
			t.Errorf("%s, stored in %s", rowOf(s), got)
		}
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID)); filepath.Base(exe) == "sh" || filepath.Base(exe) == "dash" {
			t.Errorf("pid %d is the script", s.PID)
		}
		if out, errs, code := c.run("stop", id); code != 0 {
			t.Errorf("stop: exit code %d, %s%s", code, out, errs)
		}
		if !poll(func() bool { return !inCommandLines(id) }) {
			t.Error("the launchers do not end with the agent")
		}
	})
}

// TestClaudeInsideOfClaude: what a session's command launches is a session of its own, and knows nothing of the other.
func TestClaudeInsideOfClaude(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		command, out := launchWithin(t, a.Dir())
		outer := c.launched("claude-code", "-p", "outer [[shell "+command+";; hang]]", "--", "--allowedTools=Bash")
		w.WaitCall("outer", 1)
		raw, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.TrimSpace(string(raw))
		w.WaitCall("inner", 0)
		s := c.status(inner)
		if got := claudeID(t, w, `"inner [[hang]]"`); got != inner || inner == outer || s.Title != "within" || s.Status != "running" {
			t.Errorf("printed %q inside of %s, stored in %s: %s, named %q", inner, outer, got, rowOf(s), s.Title)
		}
		if got := marks(t, s.PID, a); len(got) > 0 {
			t.Errorf("its environment tells of the session that it was launched from: %q", got)
		}
		// The end of the outer session is none of the inner one's.
		if _, errs, code := c.run("stop", outer); code != 0 {
			t.Errorf("stop: exit code %d\n%s", code, errs)
		}
		if got := rowsOf(c.list()); !slices.Equal(got, []string{row(inner, s.PID, "running")}) {
			t.Errorf("after the outer one has stopped: %q", got)
		}
	})
}

// TestClaudeInsideOfABackgroundSession knows nothing of that one's job, either.
func TestClaudeInsideOfABackgroundSession(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	command, out := launchWithin(t, a.Dir())
	a.With(c.env...).Output("--bg", "--permission-mode", "default", "--allowedTools=Bash", "outer [[shell "+command+";; hang]]")
	w.WaitCall("outer", 1)
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	s := c.status(strings.TrimSpace(string(raw)))
	if got := marks(t, s.PID, a); len(got) > 0 || s.Status != "running" || s.Source != "print" || s.Meta.Get("jobId") != nil {
		t.Errorf("%s, %s, with %v, is marked by %q", rowOf(s), s.Source, s.Meta, got)
	}
}

// launchWithin is a command for an agent's tool that launches a session, and the file in dir that the command puts its ID into.
func launchWithin(t *testing.T, dir string) (command, out string) {
	t.Helper()
	prompt, out := filepath.Join(dir, "prompt"), filepath.Join(dir, "id")
	if err := os.WriteFile(prompt, []byte("inner [[hang]]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s launch claude-code --force --name within --prompt-file %s > %s", os.Getenv(binary), prompt, out), out
}

// marks are what a process has in its environment of Claude Code's that the user has not.
func marks(t *testing.T, pid int, a world.Agent) (list []string) {
	t.Helper()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	own := a.Environ()
	for variable := range strings.SplitSeq(string(env), "\x00") {
		marked := strings.HasPrefix(variable, "CLAUDE") || strings.HasPrefix(variable, "AI_AGENT")
		if marked && !slices.Contains(own, variable) && variable != "CLAUDE_CODE_HOST_SHORT_TEMP_DIRS=1" { // which says nothing of a session
			list = append(list, variable)
		}
	}
	return list
}
