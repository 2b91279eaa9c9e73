package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/debian"
	"agentctl/tests/must"
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

// firstProcess is what a process table begins with: it names its pid outside, mounts its own /proc, and collects orphans.
const firstProcess = `read -r pid rest </proc/self/stat && mount -t proc proc /proc && echo "$pid" && sleep infinity & wait`

// ownTable makes a process table below this one. What the returned words start is in it; kill ends all of that at once. macOS has none.
func ownTable(t *testing.T, c agentctl) (enter []string, kill func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil, func() { killAll(t, c) }
	}
	table := exec.Command("unshare", "--user", "--map-current-user", "--keep-caps", "--pid", "--mount", "--fork", "--kill-child", "sh", "-c", firstProcess)
	table.Stderr = os.Stderr
	out, err := table.StdoutPipe()
	if err == nil {
		err = table.Start()
	}
	must.Do(t, err)
	var pid int
	_, err = fmt.Fscanln(out, &pid)
	end := sync.OnceFunc(func() {
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // unshare ends after the table's first process, which ends after all others
		} else {
			_ = table.Process.Kill()
		}
		_ = table.Wait()
	})
	t.Cleanup(end)
	if err != nil {
		t.Fatal("no process table: ", err)
	}
	return []string{"sh", "-c", `exec nsenter --target "$0" --user --preserve-credentials --pid --mount --wdns="$PWD" -- "$@"`, strconv.Itoa(pid)}, end
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

// TestRestore: of sessions of three agents in all states, those that were cut off with their process table come back, each once, with
// their history: also if two ask at once, and in windows of tmux.
func TestRestore(t *testing.T) {
	w, c, agents := everyAgent(t)
	enter, kill := ownTable(t, c)
	outside := c
	c.by = enter
	inTerminal := func(name string, args ...string) *world.TUI {
		a := agents[name].In(c.dir)
		if len(enter) > 0 {
			a.Native, args = enter[0], slices.Concat(enter[1:], []string{a.Native}, args)
		}
		return a.TUI(args...)
	}
	c.dir = w.Dir("open")
	rest := c.launched(install.ClaudeCode, "-p", "the whole turn", "--wait", "--quiet")
	inTerminal(install.ClaudeCode, "--resume", rest)
	c.expectStatus(rest, "idle")
	c.dir = w.Dir("failed")
	c.exits(1, "status 400", "launch", install.Codex, "-p", "the failed turn [[error 400]]", "--wait")
	c.dir = w.Dir("waits")
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600))
	tui := inTerminal(install.OpenCode)
	tui.Submit("the first turn [[shell touch asked]]")
	tui.WaitFor("Permission required")
	waits := openCodeID(t, w, "the first turn")
	c.expectStatus(waits, "waiting")
	cut := []string{waits}
	for _, name := range []string{install.ClaudeCode, install.Codex, install.OpenCode} {
		c.dir = w.Dir("cut-" + name)
		cut = append(cut, c.launched(name, "-p", "the first turn [[hang]]"))
	}
	slices.Sort(cut)
	kill()
	c = outside
	var got []string
	outcomes := map[string]int{}
	for _, s := range c.list("--since", "today") {
		outcomes[s.Outcome]++
		if s.WasOpen != (*s.ID == rest) {
			t.Errorf("%s was open: %t", *s.ID, s.WasOpen)
		}
		if s.InterruptedIn == nil {
			continue
		}
		got = append(got, *s.ID)
		if in := *s.InterruptedIn; *s.ID == waits && (in.Tool != "bash" || in.Brief != "touch asked") || *s.ID != waits && !strings.HasPrefix(in.Prompt, "the first turn") {
			t.Errorf("%s was cut off in %+v", *s.ID, in)
		}
	}
	if slices.Sort(got); !slices.Equal(got, cut) || !maps.Equal(outcomes, map[string]int{"interrupted": 4, "completed": 1, "error": 1}) {
		t.Errorf("cut off were %q, listed are %q; the outcomes are %v", cut, got, outcomes)
	}

	var both [2]bytes.Buffer
	var commands [2]*exec.Cmd
	for i := range commands {
		commands[i] = c.command("resume", "--interrupted", "--yes", "--json", "the second turn [[hang]]")
		commands[i].Stdout, commands[i].Stderr = &both[i], os.Stderr
		must.Do(t, commands[i].Start())
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
	must.Do(t, err)
	bin := t.TempDir()
	must.Do(t, root.Script(filepath.Join(bin, "tmux"), debian.Tmux().Files[0]))
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
