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

// launched starts an agent and returns the ID that is printed.
func (c agentctl) launched(args ...string) string {
	c.t.Helper()
	return c.printed(append([]string{"launch"}, args...)...)
}

// printed runs a command that prints an ID and nothing else.
func (c agentctl) printed(args ...string) string {
	c.t.Helper()
	out, errs, code := c.run(args...)
	id, rest, _ := strings.Cut(out, "\n")
	if code != 0 || id == "" || rest != "" {
		c.t.Fatalf("agentctl %.200q: exit code %d, printed %q\n%s", args, code, out, errs)
	}
	return id
}

// asked are the texts of the user in a thread's rollout, in both of Codex's dialects.
func asked(t *testing.T, w *world.World, id string) []string {
	t.Helper()
	var texts []string
	for _, line := range rolloutOf(t, w, id) {
		var r struct {
			Payload struct {
				Type, Message string
				Item          struct {
					Type    string
					Content []struct{ Text string }
				}
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Payload.Type == "user_message":
			texts = append(texts, r.Payload.Message)
		case r.Payload.Type == "item_completed" && r.Payload.Item.Type == "UserMessage":
			texts = append(texts, r.Payload.Item.Content[0].Text)
		}
	}
	return texts
}

// rolloutOf are the whole lines of a thread's rollout.
func rolloutOf(t *testing.T, w *world.World, id string) [][]byte {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.Home, ".codex", "sessions", "*", "*", "*", "rollout-*"+id+".jsonl"))
	if len(paths) != 1 {
		t.Fatalf("%d rollouts of %s", len(paths), id)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(raw, []byte("\n"))
	return lines[:len(lines)-1]
}

// inCommandLines reports whether any process shows the text to everybody.
func inCommandLines(text string) bool {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(names, func(name string) bool {
		raw, _ := os.ReadFile(name)
		return bytes.Contains(raw, []byte(text))
	})
}

// TestCodexLaunch: the printed ID is the session's, at once, whatever the prompt.
func TestCodexLaunch(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, prompt := range []string{
			"--help marks-one [[hang]]",
			"-x 'marks' \"two\" $HOME `id`\n\n\ttäglich ☃ \U0001F600\r\nlast line [[hang]]\n",
			strings.Repeat("0123456789abcde\n", 300<<10/16) + "marks-three [[hang]]",
		} {
			file := filepath.Join(w.Home, "prompt")
			if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
				t.Fatal(err)
			}
			id := c.launched("codex", "--force", "--prompt-file", file)
			s := c.status(id)
			if s.Status != "running" || *s.ID != id || s.CWD != a.Dir() {
				t.Errorf("status right after: %s in %s", rowOf(s), s.CWD)
			}
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID)); err != nil || exe != a.Native {
				t.Errorf("pid %d runs %s, %v; want %s", s.PID, exe, err, a.Native)
			}
			if got := asked(t, w, id); len(got) != 1 || got[0] != prompt {
				t.Errorf("stored is %.200q, asked was %.200q", got, prompt)
			}
			if line := prompt[strings.LastIndex(strings.TrimSpace(prompt), "\n")+1:]; inCommandLines(strings.TrimSpace(line)) {
				t.Errorf("%q stands in a command line", line)
			}
			if _, errs, code := c.run("stop", id); code != 0 {
				t.Errorf("stop: exit code %d\n%s", code, errs)
			}
		}
		if rows := rowsOf(c.list()); len(rows) > 0 {
			t.Errorf("still live: %q", rows)
		}
	})
}

// TestCodexFailures: the agent's own words reach the user, and nothing lives on.
func TestCodexFailures(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		broken := t.TempDir()
		if err := os.WriteFile(filepath.Join(broken, "codex"), []byte("#!/bin/sh\necho the machine is broken >&2\nexit 3\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			args []string
			say  string
			code int
		}{
			"a bad flag":      {[]string{"-p", "hello", "--", "--zzz"}, "unexpected argument '--zzz'", 1},
			"a bad setting":   {[]string{"-p", "hello", "--", "-c", `sandbox_mode="bogus"`}, "unknown variant `bogus`", 1},
			"no such model":   {[]string{"-p", "[[error 400]]", "--model", "bogus"}, "the model answers with status 400", 1},
			"no provider":     {[]string{"-p", "hello", "--", "-c", "model_provider=zzz"}, "Model provider `zzz` not found", 1},
			"not trusted":     {[]string{"-p", "hello", "--cwd", "/"}, "Not inside a trusted directory", 1},
			"no key":          {[]string{"-p", "hello", "--env", "AGENTCTL_TEST_MODEL_KEY="}, "Missing environment variable", 1},
			"too long":        {[]string{"-p", "[[fail context_length_exceeded]]"}, "ran out of room", 1},
			"limited":         {[]string{"-p", "[[error 429]]"}, "429", 1},
			"no home":         {[]string{"-p", "hello", "--env", "CODEX_HOME=/nowhere"}, "CODEX_HOME points to", 1},
			"no directory":    {[]string{"-p", "hello", "--cwd", "/nowhere"}, "/nowhere", 2},
			"a name":          {[]string{"-p", "hello", "--name", "n"}, "/rename", 7},
			"a broken binary": {[]string{"-p", "hello", "--env", "PATH=" + broken + ":/usr/bin:/bin"}, "the machine is broken", 1},
			"not installed":   {[]string{"-p", "hello", "--env", "PATH=/usr/bin:/bin"}, "not installed", 7},
		} {
			out, errs, code := c.run(append([]string{"launch", "codex"}, test.args...)...)
			words := errs // of the launch alone: what a session has stored of its error can be the model's JSON
			if id := strings.TrimSpace(out); code == 0 && id != "" && strings.HasPrefix(test.args[1], "[[") {
				// On a busy machine the model's refusal may come later than a launch watches: then it is an ordinary
				// session that has failed. What fails before the model is asked never gets here.
				_, _, code = c.run("wait", id)
				errs += c.status(id).Error
				if a.Release.Version == install.CodexOld && !strings.Contains(errs, test.say) {
					test.say = "this version of Codex does not record why" // the model's words were on its screen only
				}
			}
			if code != test.code || !strings.Contains(errs, test.say) {
				t.Errorf("%s: exit code %d, %q\n%s", name, code, out, errs)
			}
			// The ID is printed with its proof, should there have been the time for one; it is that of a failed session.
			if id := strings.TrimSpace(out); id != "" && c.status(id).Outcome != "error" {
				t.Errorf("%s: %q was printed\n%s", name, out, errs)
			}
			if strings.Contains(words, "WARNING") || strings.Contains(words, "{") {
				t.Errorf("%s: more than the agent's words:\n%s", name, errs)
			}
			if rows := rowsOf(c.list()); len(rows) > 0 {
				t.Errorf("%s: still live: %q", name, rows)
			}
		}
		for _, pid := range running(a.Native) {
			t.Errorf("pid %d is left", pid)
		}
	})
}

// running are the processes of a binary.
func running(exe string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		var pid int
		if link, err := os.Readlink(filepath.Join(name, "exe")); err == nil && link == exe {
			_, _ = fmt.Sscan(filepath.Base(name), &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCodexBehindScripts: whatever starts Codex in the end, the process that is shown is Codex's own.
func TestCodexBehindScripts(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, command := range []string{a.Native, a.Shim[0]} {
			dir := t.TempDir()
			script := "#!/bin/sh\n" + command + ` "$@"` + "\nexit $?\n" // does not replace itself
			if err := os.WriteFile(filepath.Join(dir, "codex"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			id := c.launched("codex", "--force", "-p", "behind "+command+" [[hang]]", "--env", "PATH="+dir+":"+os.Getenv("PATH"))
			s := c.status(id)
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID)); err != nil || exe != a.Native || s.Status != "running" {
				t.Errorf("%s, of pid %d that runs %s, %v", rowOf(s), s.PID, exe, err)
			}
			if got := codexID(t, w, "behind "+command); got != id {
				t.Errorf("printed is %s, the session is %s", id, got)
			}
		}
	})
}

// TestCodexFailsLater: what goes wrong after retries, or never does, is an ordinary session.
func TestCodexFailsLater(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, _ world.Agent, c agentctl) {
		silent := c.launched("codex", "--force", "-p", "nobody answers [[delay]]")
		if got := c.status(silent); got.Status != "running" {
			t.Errorf("an endpoint that never answers: %s", rowOf(got))
		}
		// Whether this shows before the launch has returned is a matter of speed; the session is the same.
		_, _, _ = c.run("launch", "codex", "--force", "-p", "come again [[error 500]]")
		id := codexID(t, w, "come again")
		if !poll(func() bool { return c.status(id).Outcome == "error" }) {
			t.Errorf("after the last retry: %s", rowOf(c.status(id)))
		}
		if got := c.status(id); !strings.Contains(got.Error, "high demand") && !strings.Contains(got.Error, "does not record why") {
			t.Errorf("its error is %q", got.Error)
		}
	})
}
