package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long something may take that is to come about: far more than it does.
const patience = 90 * time.Second

// kill ends agentctl at a random moment of what it does, and checks what is there afterwards.
func (t *trial) kill() error {
	t.path = filepath.Join(t.Agents, "fake") + ":" + os.Getenv("PATH")
	t.env = t.environment("PATH=" + t.path)
	return pick(t, []func(*trial) error{
		(*trial).killLaunch, (*trial).killLaunch, (*trial).killResume, (*trial).killStop, (*trial).killLock, (*trial).killHeld, (*trial).killHooks, (*trial).killClean,
		(*trial).interruptFollowing,
	})(t)
}

// killed runs agentctl and ends it within a time.
func (t *trial) killed(within time.Duration, args ...string) *call {
	c := &call{args: args, after: 1 + time.Duration(t.Int64N(int64(within))), send: pick(t, []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT})}
	t.Kills++
	t.do(c)
	t.note("%s: %v after %s: exit code %d, %v", c, c.send, c.after.Round(time.Microsecond), c.code, c.signal)
	return c
}

// expect runs agentctl and fails if its exit code is another.
func (t *trial) expect(codes []int, args ...string) *call {
	c := t.run(args...)
	if !slices.Contains(codes, c.code) && !c.cut {
		t.fail("after a kill", "%s: exit code %d, want %v\n%s%s", c, c.code, codes, start(c.out.Bytes()), start(c.errs.Bytes()))
	}
	return c
}

// eventually asks until the answer is "", and fails with the last one.
func (t *trial) eventually(what string, ask func() string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		answer := ask()
		if answer == "" {
			return
		}
		if time.Now().After(end) {
			t.fail("after a kill", "%s: %s", what, answer)
			return
		}
	}
}

// running are the pids of the fake agents that live.
func (t *trial) running() (list []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		exe, err := os.Readlink(dir + "/exe")
		stat, _ := os.ReadFile(dir + "/stat")
		i := bytes.LastIndexByte(stat, ')')
		if err == nil && filepath.Dir(exe) == filepath.Join(t.Agents, "fake") && i > 0 && !bytes.HasPrefix(stat[i:], []byte(") Z")) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			list = append(list, pid)
		}
	}
	return list
}

// listed waits until the agents that run are those that are listed, each with the ID of its session.
func (t *trial) listed() {
	t.eventually("what runs is what is listed", func() string {
		c := t.run("list", "--json")
		var pids []int
		for _, r := range c.sessions() {
			if r.ID == nil {
				return "a row without an ID: " + c.out.String()
			}
			pids = append(pids, r.PID)
		}
		slices.Sort(pids)
		running := t.running()
		slices.Sort(running)
		if !slices.Equal(pids, running) {
			return fmt.Sprintf("there run %v, and listed is %s", running, c.out.String())
		}
		return ""
	})
}

// ended stops all that runs; then nothing is left, and the directory is free.
func (t *trial) ended() {
	t.eventually("all that runs is ended", func() string {
		c := t.run("stop", "--all", "--yes", "--force", "--timeout", "5s", "--json")
		if left := t.running(); len(left) > 0 {
			return fmt.Sprintf("%v are left after %s%s", left, c.out.String(), c.errs.String())
		}
		return ""
	})
	t.free()
}

// free waits until the repository can be locked.
func (t *trial) free() {
	t.eventually("the lock is free", func() string {
		if c := t.run("lock", t.repo, "--", "true"); c.code != 0 {
			return c.errs.String()
		}
		return ""
	})
}

func (t *trial) agent() string { return pick(t, []string{"claude-code", "codex", "opencode"}) }

// killLaunch kills a launch, of one agent or several, in worktrees or not.
func (t *trial) killLaunch() error {
	args := []string{"launch", "-p", fmt.Sprintf("case %d [[hang]]", t.Case), "--cwd", t.repo, "--timeout", "30s"}
	branch := ""
	switch t.IntN(3) {
	case 0:
		branch = "try/h/one"
		args = append(args, "--adapter", t.agent(), "--worktree", "--branch", branch)
	case 1:
		branch = "try/h/"
		args = append(args, "--adapter", "claude-code", "--adapter", "codex", "--adapter", "opencode", "--group", "h")
	default:
		args = append(args, "--adapter", t.agent())
	}
	for range 1 + t.IntN(2) {
		begun := time.Now()
		if c := t.killed(2*t.launch, args...); c.code == 0 {
			t.worker.launch = min(5*time.Second, time.Since(begun))
		}
	}
	t.listed()
	t.ended()
	if branch != "" {
		t.cleaned("h")
	}
	return nil
}

// cleaned removes the worktrees of a group; then nothing of them is left, on disk or in git.
func (t *trial) cleaned(group string) {
	t.run("worktree", "list", "--json")
	t.eventually("the worktrees are removed", func() string {
		c := t.run("worktree", "clean", "--group", group, "--delete-branch", "--force", "--json")
		left, _ := filepath.Glob(filepath.Join(t.dir, "repo-try-"+group+"-*"))
		if len(left) > 0 {
			return fmt.Sprintf("there is left %q: %s%s", left, c.out.String(), c.errs.String())
		}
		return ""
	})
	c := t.expect([]int{0}, "worktree", "list", "--json")
	var rows []struct{ Path string }
	if err := json.Unmarshal(c.out.Bytes(), &rows); err != nil || len(rows) != 1 {
		t.fail("after a kill", "worktrees are left: %s (%v)", c.out.String(), err)
	}
	if err := t.git("fsck", "--no-progress", "--connectivity-only"); err != nil {
		t.fail("after a kill", "%v", err)
	}
}

// finished launches a turn that ends, and returns the session's ID.
func (t *trial) finished(agent string) (string, error) {
	c := t.expect([]int{0}, "launch", agent, "-p", "first [[text done]]", "--cwd", t.repo, "--wait", "--quiet", "--timeout", "50s")
	if c.code != 0 {
		return "", errors.New("no session to go on with")
	}
	t.ended()
	return strings.TrimSpace(c.out.String()), nil
}

func (t *trial) killResume() error {
	id, err := t.finished(t.agent())
	if err != nil {
		return err
	}
	t.killed(2*t.launch, "resume", id, "again [[hang]]", "--timeout", "30s")
	t.listed()
	t.ended()
	t.expect([]int{0}, "status", id, "--json")
	return nil
}

func (t *trial) killStop() error {
	agent := t.agent()
	c := t.expect([]int{0}, "launch", agent, "-p", "to be stopped [[hang]]", "--cwd", t.repo, "--timeout", "50s")
	id := strings.TrimSpace(c.out.String())
	if c.code != 0 || id == "" {
		t.ended()
		return nil
	}
	args := []string{"stop", id, "--timeout", "5s"}
	if t.IntN(2) == 0 {
		args = append(args, "--force")
	}
	t.killed(100*time.Millisecond, args...)
	t.expect([]int{0}, "stop", id, "--timeout", "30s", "--force", "--json")
	t.expect([]int{8}, "status", id, "--alive")
	t.ended()
	return nil
}

// killLock kills declaring a lock and taking it back.
func (t *trial) killLock() error {
	for range 6 {
		t.killed(30*time.Millisecond, pick(t, [][]string{
			{"lock", t.repo, "--reason", "release"}, {"lock", t.repo, "--for", "1h", "--json"}, {"unlock", t.repo}, {"unlock", t.repo, "--force"}, {"locks", "--json"},
		})...)
		t.expect([]int{0}, "locks", "--json")
		t.expect([]int{0}, "guard", t.repo)
	}
	t.expect([]int{0, 3}, "unlock", t.repo, "--force")
	t.expect([]int{0}, "lock", t.repo, "--reason", "another")
	t.expect([]int{5}, "lock", t.repo, "--reason", "one more")
	t.expect([]int{0}, "unlock", t.repo)
	if c := t.expect([]int{0}, "locks", "--json"); strings.TrimSpace(c.out.String()) != "[]" {
		t.fail("after a kill", "locks are left: %s", c.out.String())
	}
	t.free()
	return nil
}

// killHeld kills agentctl while a command runs under a lock: who lives has the lock, and it is free when neither does.
func (t *trial) killHeld() error {
	file := filepath.Join(t.dir, "pid")
	t.killed(150*time.Millisecond, "lock", t.repo, "--", "sh", "-c", "echo $$ >"+file+"; exec sleep 600 >/dev/null 2>&1")
	raw, _ := os.ReadFile(file)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil && syscall.Kill(pid, 0) == nil {
		// Its end may be on its way.
		t.eventually("a command that lives holds its lock", func() string {
			if c := t.run("guard", t.repo); c.code != 5 && syscall.Kill(pid, 0) == nil {
				return fmt.Sprintf("guard: exit code %d, %s", c.code, c.errs.String())
			}
			return ""
		})
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	t.free()
	return nil
}

// killHooks kills installing and uninstalling git hooks: each hook is whole, as it was or as it becomes.
func (t *trial) killHooks() error {
	hooks := filepath.Join(t.repo, ".git/hooks")
	before, err := contents(hooks)
	if err != nil {
		return err
	}
	t.expect([]int{0}, "hooks", "install")
	after, err := contents(hooks)
	if err != nil {
		return err
	}
	for n := range 8 {
		verb := "uninstall"
		if n%2 == 1 {
			verb = "install"
		}
		c := t.killed(40*time.Millisecond, "hooks", verb)
		now, err := contents(hooks)
		if err != nil {
			return err
		}
		for name, text := range now {
			if known := before[name] != "" || after[name] != ""; known && text != before[name] && text != after[name] || !known && c.send != syscall.SIGKILL && n == 0 {
				t.fail("torn hook", "%s after %s: %s", name, c, text)
			}
		}
		for name := range before {
			if now[name] == "" {
				t.fail("torn hook", "%s is gone after %s", name, c)
			}
		}
	}
	t.expect([]int{0}, "hooks", "install")
	t.expect([]int{0}, "hooks", "status", "--json")
	t.expect([]int{0}, "hooks", "uninstall")
	now, err := contents(hooks)
	for name, text := range before {
		if now[name] != text {
			t.fail("torn hook", "%s is not what it was: %s", name, now[name])
		}
	}
	for name := range now {
		if before[name] == "" {
			t.note("left in the directory of hooks: %s", name)
			if t.Kind != "" && after[name] != "" {
				t.fail("torn hook", "%s is left", name)
			}
		}
	}
	return err
}

// contents are the mode and the text of each file in a directory.
func contents(dir string) (map[string]string, error) {
	list, err := os.ReadDir(dir)
	all := map[string]string{}
	for _, e := range list {
		info, ierr := e.Info()
		raw, rerr := os.ReadFile(filepath.Join(dir, e.Name()))
		if err = errors.Join(err, ierr, rerr); err == nil {
			all[e.Name()] = info.Mode().String() + "\n" + string(raw)
		}
	}
	return all, err
}

// killClean kills the removal of worktrees.
func (t *trial) killClean() error {
	for _, name := range []string{"a", "b", "c"} {
		if err := t.git("worktree", "add", "-q", "-b", "try/h/"+name, filepath.Join(t.dir, "repo-try-h-"+name)); err != nil {
			return err
		}
	}
	for range 1 + t.IntN(2) {
		t.killed(200*time.Millisecond, "worktree", "clean", "--group", "h", "--delete-branch")
	}
	t.cleaned("h")
	return nil
}

// interruptFollowing interrupts what goes on until a session ends: the first signal ends it.
func (t *trial) interruptFollowing() error {
	c := t.expect([]int{0}, "launch", t.agent(), "-p", "to be watched [[hang]]", "--cwd", t.repo, "--timeout", "50s")
	if id := strings.TrimSpace(c.out.String()); c.code == 0 {
		for range 3 {
			args := pick(t, [][]string{{"wait", id}, {"logs", "-f", id}, {"logs", "-f", "--json", id}, {"events", "--initial"}, {"wait", "--until", "waiting", id}, {"events"}})
			t.Kills++
			t.do(&call{args: args, after: time.Duration(1+t.IntN(1200)) * time.Millisecond, send: pick(t, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM})})
		}
	}
	t.ended()
	return nil
}
