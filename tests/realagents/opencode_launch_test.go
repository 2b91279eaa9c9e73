package realagents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// hangingPrompts are what people ask; each hangs, so that the test can inspect what runs.
func hangingPrompts() []string {
	return []string{
		"-x --help [[hang]]",
		`"in quotes" it's $HOME \"and\"` + " lines\n\n  of\ttext\r\n漢字 é 🙂 \u202e [[hang]] \\",
		"[[hang]]" + strings.Repeat(" three hundred kilobytes", 12800),
		"run -s ses_aaaaaaaaaaaaaaaaaaaaaaaaaa [[hang]]",
		"--session=x\n--\n[[hang]]",
	}
}

// TestOpenCodeLaunchesAtOnce: S21. Several are launched at once, half of them in one directory: each ID is that of the
// session which the store holds this very prompt in, each process the agent's own, and no prompt stands in a command line.
func TestOpenCodeLaunchesAtOnce(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		prompts := hangingPrompts()
		ids := make([]string, len(prompts))
		var all sync.WaitGroup
		for i, prompt := range prompts {
			file := filepath.Join(t.TempDir(), "prompt")
			if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
				t.Fatal(err)
			}
			dir := a.Dir()
			if i%2 == 1 {
				dir = w.Dir(fmt.Sprint("work", i)) // in one directory they start one after the other
			}
			all.Go(func() {
				out, errs, code := c.runAmongMany("launch", "opencode", "--force", "--timeout", "5m", "--prompt-file", file, "--cwd", dir)
				if ids[i] = strings.TrimSpace(out); code != 0 {
					t.Errorf("launch %d: exit code %d\n%s", i, code, errs)
				}
			})
		}
		all.Wait()
		var want, pids []string
		for i, prompt := range prompts {
			got := userMessages(t, w, ids[i])
			if len(got) != 1 || got[0].text != asStored(a.Version, prompt) {
				t.Errorf("session %q of prompt %d holds %.200q", ids[i], i, got)
				continue
			}
			s := c.status(ids[i])
			if odd := runsAs(a, s.PID, prompt); odd != "" {
				t.Errorf("process %d of session %s %s", s.PID, ids[i], odd)
			}
			want, pids = append(want, row(ids[i], s.PID, "running")), append(pids, fmt.Sprint(s.PID))
		}
		c.expect(want)
		if slices.Sort(pids); len(slices.Compact(pids)) != len(prompts) {
			t.Errorf("processes %q", pids)
		}
		if line := commandLineWith("[[hang"); line != "" {
			t.Errorf("a prompt stands in the command line %.200q", line)
		}
	})
}

// commandLineWith is the command line of some process that holds the text.
func commandLineWith(text string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), text) {
			return string(raw)
		}
	}
	return ""
}

// TestOpenCodeLaunchFails as the agent does: its own words, and nothing left.
func TestOpenCodeLaunchFails(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		noModel := "Unexpected server error. Check server logs for details. (err_" // as it prints it
		if a.Version == install.OpenCodeOld {
			noModel = "Model not found: "
		}
		invalid := w.Dir("invalid")
		if err := os.WriteFile(filepath.Join(invalid, "opencode.json"), []byte(`{"model": 5}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			name string
			code int
			says string
			args []string
		}{
			{"model", 1, noModel, []string{"-p", "x", "--model", "anthropic/none"}},
			{"provider", 1, noModel, []string{"-p", "x", "--model", "none/none"}},
			{"key", 1, "the model answers with status 401", []string{"-p", "[[error 401 authentication_error]]"}},
			{"request", 1, "the model answers with status 400", []string{"-p", "[[error 400]]"}},
			{"flag", 1, "it does not understand its arguments", []string{"-p", "x", "--", "--bogus"}},
			{"configuration", 1, "Configuration is invalid", []string{"-p", "x", "--cwd", invalid}},
			{"directory", 2, "no such file or directory", []string{"-p", "x", "--cwd", filepath.Join(invalid, "gone")}},
		} {
			out, errs, code := c.run(append([]string{"launch", "opencode"}, f.args...)...)
			if code != f.code || !strings.Contains(errs, f.says) {
				t.Errorf("%s: exit code %d, %q\n%s", f.name, code, out, errs)
			}
			c.expect(nil)
		}
		if left := commandLineWith(a.Native); left != "" {
			t.Errorf("left behind: %q", left)
		}
		silent := startedBy(t, c, "launch", "opencode", "-p", "never answered [[delay]]")
		if got := c.status(silent); got.Status != "running" {
			t.Errorf("a model that never answers: %s", rowOf(got))
		}
	})
}

// startedBy is the ID of what a launch or resume started.
func startedBy(t *testing.T, c agentctl, args ...string) string {
	t.Helper()
	out, errs, code := c.run(args...)
	return started(t, out, errs, code)
}

// TestOpenCodeIsNotThere, or not whole, or broken.
func TestOpenCodeIsNotThere(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w).as(w.OpenCode(install.OpenCodeCurrent))
	bin := t.TempDir()
	c.env = append(c.env, "PATH="+bin)
	if out, errs, code := c.run("launch", "opencode", "-p", "x"); code != 7 || !strings.Contains(errs, `no program "opencode" in PATH`) {
		t.Errorf("not installed: exit code %d, %q\n%s", code, out, errs)
	}
	for text, says := range map[string]string{
		"#!/bin/sh\necho broken as can be >&2\nexit 3\n": "broken as can be",
		"no program at all": "exec format error",
	} {
		if err := os.WriteFile(filepath.Join(bin, "opencode"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := c.run("launch", "opencode", "-p", "x"); code != 1 || !strings.Contains(errs, says) {
			t.Errorf("broken: exit code %d, %q\n%s", code, out, errs)
		}
	}
}

// TestOpenCodePermissions: what the configuration asks about is refused in a headless run, and allowed where the launch
// says so; what it denies stays denied.
func TestOpenCodePermissions(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, f := range []struct {
			config, permissions, tool string
			allowed                   bool
		}{
			{`{"edit":"ask"}`, "own", "write", false},
			{`"ask"`, "edit", "write", true},
			{`{"edit":{"*":"ask","*made.txt":"deny"}}`, "edit", "write", false},
			{`{"bash":"ask"}`, "edit", "shell", false},
			{`{"bash":"ask"}`, "full", "shell", true},
		} {
			name := fmt.Sprintf("%s/%s/%s", f.config, f.permissions, f.tool)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(`{"permission":`+f.config+`}`), 0o600); err != nil {
				t.Fatal(err)
			}
			made := filepath.Join(dir, "made.txt")
			step := map[string]string{
				"write": `tool write {"filePath":"` + made + `","content":"x"}`, "shell": "shell echo > made.txt",
			}[f.tool]
			out, errs, code := c.run("launch", "opencode", "--cwd", dir, "--permissions", f.permissions, "-p", "["+"["+step+"]]")
			id := started(t, out, errs, code)
			if !poll(func() bool { return c.status(id).Status == "stopped" }) {
				t.Fatalf("%s: it does not end", name)
			}
			if _, err := os.Stat(made); (err == nil) != f.allowed {
				t.Errorf("%s: the file is made: %v, want %v", name, err == nil, f.allowed)
			}
			if strings.Contains(errs, "headless OpenCode denies") != (f.permissions == "own") {
				t.Errorf("%s: said %q", name, errs)
			}
		}
	})
}
