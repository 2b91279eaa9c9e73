package realagents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// The printed ID is that of the session in which the agent stored the prompt, whatever that holds, and no command line shows it.
func TestLaunch(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		prompt := "--help -x\n" + strings.Repeat("0123456789abcde\n", 300<<10/16) + "'marks' \"two\" $HOME `id`\n\n\ttäglich ☃ \U0001F600\r\nlast line [[hang]]"
		file := filepath.Join(w.Home, "prompt")
		must.Do(t, os.WriteFile(file, []byte(prompt), 0o600))
		id := c.launched(a.Agent(), "--timeout", "5m", "--prompt-file", file)
		if s := c.status(id); s.Status != "running" || s.CWD != a.Dir() || !runs(s.PID, a) {
			t.Errorf("status right after: %s in %s, runs %s", rowOf(s), s.CWD, commandOf(s.PID))
		}
		if got := prompts(t, w, a, id, 1); !slices.Equal(got, []string{prompt}) {
			t.Errorf("stored is %.200q, asked was %.200q", got, prompt)
		}
		if shown := processesWhere("cmdline", "[[hang"); len(shown) > 0 {
			t.Errorf("the prompt stands in the command line %.200q", commandOf(shown[0]))
		}
		c.does("stop", id)
		c.expect(nil)
	})
}

// A failure is reported with the agent's own words, and leaves nothing that lives. A model that never answers is no failure.
func TestLaunchFails(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, f := range map[string][]struct {
			says string
			args []string
		}{
			install.ClaudeCode: {
				{"Not logged in", []string{"-p", "x", "--env", "ANTHROPIC_API_KEY="}},
				{"unknown option '--no-such-flag'", []string{"-p", "x", "--", "--no-such-flag"}},
			},
			install.Codex: {
				{"unexpected argument '--zzz'", []string{"-p", "x", "--", "--zzz"}},
				{"the model answers with status 400", []string{"-p", "[[error 400]]", "--model", "bogus"}},
				{"Not inside a trusted directory", []string{"-p", "x", "--cwd", "/"}},
			},
			install.OpenCode: {
				{"the model answers with status 401", []string{"-p", "[[error 401 authentication_error]]"}},
				{"it does not understand its arguments", []string{"-p", "x", "--", "--bogus"}},
			},
			install.Copilot: {
				{"No authentication information found", []string{"-p", "x", "--env", "COPILOT_OFFLINE=", "--env", "COPILOT_PROVIDER_BASE_URL="}},
				{"the model answers with status 400", []string{"-p", "[[error 400]]"}},
			},
			install.Pi: {
				{"Model \"none/none\" not found", []string{"-p", "x", "--model", "none/none"}},
				{"the model answers with status 401", []string{"-p", "[[error 401 authentication_error]]"}},
			},
		}[a.Agent()] {
			out, errs, code := c.run(append([]string{"launch", a.Agent(), "--force"}, f.args...)...)
			if id := strings.TrimSpace(out); code == 0 && id != "" {
				// The refusal may come later than a launch watches: then it is an ordinary session that has failed.
				poll(func() bool { errs = c.status(id).Error; return errs != "" })
				code = 1
			}
			if code != 1 || !strings.Contains(errs, f.says) {
				t.Errorf("%q: exit code %d, want 1 and %q\n%s%s", f.args, code, f.says, out, errs)
			}
			c.expect(nil)
		}
		if left := inhabitants(w.Home); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		id := c.launched(a.Agent(), "-p", "nobody answers [[delay]]")
		if s := c.status(id); s.Status != "running" {
			t.Error(rowOf(s))
		}
	})
}

// What a background session's command launches is a session of its own, and knows nothing of the other, nor of its job.
func TestClaudeInsideOfABackgroundSession(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	prompt, out := filepath.Join(a.Dir(), "prompt"), filepath.Join(a.Dir(), "id")
	must.Do(t, os.WriteFile(prompt, []byte("inner [[hang]]"), 0o600))
	command := fmt.Sprintf("%s launch claude-code --force --prompt-file %s > %s", os.Getenv(binary), prompt, out)
	a.With(c.env...).Output("--bg", "--permission-mode", "default", "--allowedTools=Bash", "outer [[shell "+command+";; hang]]")
	w.WaitCall("outer", 1)
	raw, err := os.ReadFile(out)
	must.Do(t, err)
	inner := strings.TrimSpace(string(raw))
	w.WaitCall("inner", 0)
	s := c.status(inner)
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID))
	must.Do(t, err)
	for variable := range strings.SplitSeq(string(env), "\x00") {
		marked := strings.HasPrefix(variable, "CLAUDE") || strings.HasPrefix(variable, "AI_AGENT")
		if marked && !slices.Contains(a.Environ(), variable) && variable != "CLAUDE_CODE_HOST_SHORT_TEMP_DIRS=1" { // which says nothing of a session
			t.Errorf("its environment has %s", variable)
		}
	}
	if s.Status != "running" || s.Source != "print" || s.Meta["jobId"] != nil || claudeID(t, w, `"inner [[hang]]"`) != inner {
		t.Errorf("%s, %s, with %v", rowOf(s), s.Source, s.Meta)
	}
	c.does("stop", claudeID(t, w, "outer [[")) // whose end is none of the inner one's
	c.expect([]string{row(inner, s.PID, "running")})
}

// That a run may only read is said where it is so, and not where Codex trusts the directory.
func TestCodexHintsWhereItMayOnlyRead(t *testing.T) {
	w, _, c := newest(t, install.Codex)
	plain := filepath.Join(w.Home, "plain")
	if out, err := exec.Command("git", "init", "-q", plain).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for dir, want := range map[string]bool{plain: true, w.Dir("trusted"): false} {
		out, errs, code := c.run("launch", "codex", "--cwd", dir, "-p", "say nothing")
		if code != 0 || strings.Contains(errs, "may only read") != want {
			t.Errorf("%s: exit %d, %s, %q; want the hint: %v", dir, code, out, errs, want)
		}
	}
}

// What OpenCode's configuration asks about is allowed in a headless run where the launch says so; what it denies stays denied.
func TestOpenCodePermissions(t *testing.T) {
	_, _, c := newest(t, install.OpenCode)
	for config, allowed := range map[string]bool{`"ask"`: true, `{"edit":{"*":"ask","*made.txt":"deny"}}`: false} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(`{"permission":`+config+`}`), 0o600))
		made := filepath.Join(dir, "made.txt")
		out, errs, code := c.run("launch", "opencode", "--cwd", dir, "--permissions", "edit", "--wait", "-p", `[[tool write {"filePath":"`+made+`","content":"x"}]]`)
		if exists(made) != allowed {
			t.Errorf("%s: the file is made: %v, exit code %d\n%s%s", config, !allowed, code, out, errs)
		}
	}
}
