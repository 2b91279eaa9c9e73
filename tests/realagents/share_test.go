package realagents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/sandbox"
)

// TestOneOfTwentyLaunches: S23. Of 20 launches into one worktree at once exactly one succeeds, whatever path names it, and
// once that one is killed there is room again.
func TestOneOfTwentyLaunches(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			a := w.Release(r)
			c, names := agentctlIn(t, w).as(a), namesOf(t, w, a.Dir())
			won := oneOf(c, names, "is at work [[hang]]")
			pid := c.status(won).PID
			c.expect([]string{row(won, pid, "running")})
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if !poll(func() bool { return !living(pid) }) {
				t.Fatal("it does not die")
			}
			for _, name := range names {
				if _, errs, code := c.run("guard", name); code != 0 {
					t.Errorf("%s after kill -9 of who was at work: exit code %d\n%s", name, code, errs)
				}
			}
		})
	}
}

// namesOf are names of a worktree: its own, a link, a directory in it, that behind the link, and where this is allowed one
// behind a bind mount.
func namesOf(t *testing.T, w *world.World, dir string) []string {
	t.Helper()
	sub, link, bound := filepath.Join(dir, "sub"), filepath.Join(w.Home, "link"), filepath.Join(w.Home, "bound")
	for _, err := range []error{os.Mkdir(sub, 0o755), os.Symlink(dir, link), os.Mkdir(bound, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Trust(sub, bound, filepath.Join(bound, "sub"))
	names := []string{dir, link, sub, filepath.Join(link, "sub")}
	if !sandbox.Inside() || os.Geteuid() != 0 {
		t.Log("no bind mounts here")
		return append(names, dir+"/.")
	}
	bind(t, dir, bound)
	return append(names, filepath.Join(bound, "sub"))
}

// oneOf launches the agent twenty times at once, and returns the session of the only launch that succeeds. All the others
// must say that somebody is in the way.
func oneOf(c agentctl, names []string, prompt string) (won string) {
	c.t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	codes, said := map[int]int{}, ""
	agent := agentOf(c)
	for i := range 20 {
		group.Go(func() {
			out, errs, code := c.run("launch", agent, "--cwd", names[i%len(names)], "--timeout", "5m", "-p", prompt)
			mu.Lock()
			defer mu.Unlock()
			switch codes[code]++; code {
			case 0:
				won = strings.TrimSpace(out)
				said += errs
			case 5:
				if !strings.Contains(errs, agent) || !strings.Contains(errs, "(pid ") || !strings.Contains(errs, "since ") {
					c.t.Errorf("it does not say who is there:\n%s", errs)
				}
			default:
				c.t.Errorf("exit code %d\n%s", code, errs)
			}
		})
	}
	group.Wait()
	if codes[0] != 1 || codes[5] != 19 {
		c.t.Fatalf("of 20 launches %d succeeded, and %d were refused; those said\n%s", codes[0], codes[5], said)
	}
	return won
}

// agentOf is the agent that the program was told to find.
func agentOf(c agentctl) string {
	bin := filepath.Base(strings.Split(c.path(), ":")[0])
	return bin[:strings.LastIndexByte(bin, '-')]
}

// TestWorktreesOfOneRepository: sessions in linked worktrees of one repository never block each other, wherever those lie;
// each blocks the whole of its own, by whatever directory it works in.
func TestWorktreesOfOneRepository(t *testing.T) {
	w := world.New(t)
	releases := install.Newest()
	c := agentctlIn(t, w).asAll(w.Release(releases[0]), w.Release(releases[1]), w.Release(releases[2]))
	main := w.Dir("main")
	nested, beside := filepath.Join(main, ".trees", "nested"), main+"-beside"
	gitIn(t, main, "worktree", "add", "-q", nested)
	gitIn(t, main, "worktree", "add", "-q", beside)
	ids := map[string]string{}
	for i, top := range []string{main, nested, beside} {
		deep := filepath.Join(top, "deep")
		if err := os.Mkdir(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		w.Trust(deep)
		out, errs, code := c.run("launch", releases[i].Agent, "--cwd", deep, "-p", "at work [[hang]]", "--timeout", "5m")
		if code != 0 {
			t.Fatalf("%s beside the others: exit code %d\n%s", releases[i].Agent, code, errs)
		}
		ids[top] = strings.TrimSpace(out)
	}
	for top, id := range ids {
		for _, args := range [][]string{{"guard", top}, {"launch", "codex", "--cwd", top, "-p", "me too"}, {"lock", top, "--", "true"}} {
			if _, errs, code := c.run(args...); code != 5 || !strings.Contains(errs, id) || strings.Contains(errs, "more") {
				t.Errorf("%q: exit code %d, and it should name %s alone\n%s", args, code, id, errs)
			}
		}
		if c.stopped(id).Result != "stopped" {
			t.Errorf("%s is not stopped", id)
		}
		if _, errs, code := c.run("guard", top); code != 0 {
			t.Errorf("guard of what is free: exit code %d\n%s", code, errs)
		}
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// matrix is two slots of each agent, and one that cannot be.
const matrix = `prompt = "compare [[hang]]"
[[matrix]]
adapter = "claude-code"
model = ["sonnet", "haiku"]
[[matrix]]
adapter = "codex"
[[matrix]]
adapter = "codex"
[[matrix]]
adapter = "opencode"
model = ["anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"]
[[matrix]]
adapter = "codex"
base_branch = "nowhere"
`

// TestMatrix: six sessions of three agents at once, each in a worktree and on a branch of its own; one that fails is said,
// and keeps none of the others. The group holds them together before and after they end, until all is cleaned.
func TestMatrix(t *testing.T) {
	w := world.New(t)
	var agents []world.Agent
	for _, r := range install.Newest() {
		agents = append(agents, w.Release(r))
	}
	c := agentctlIn(t, w).asAll(agents...)
	c.dir = w.Dir("repo")
	names := []string{"cc-haiku", "cc-sonnet", "codex", "codex-2", "opencode-haiku", "opencode-sonnet"}
	for _, name := range names {
		w.Trust(c.dir + "-try-g-6-" + name)
	}
	file := filepath.Join(w.Home, "matrix.toml")
	if err := os.WriteFile(file, []byte(matrix), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := c.run("launch", "--matrix", file, "--group", "g-6", "--json", "--timeout", "5m")
	var slots []output.LaunchResult
	if err := json.Unmarshal([]byte(out), &slots); err != nil || code != 1 || !strings.Contains(errs, `"codex-3: `) || len(slots) != 7 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	var live, dead, told []string
	for _, s := range slots {
		if s.Error != "" {
			continue
		}
		told = append(told, s.Name)
		top := c.dir + "-try-g-6-" + s.Name
		id := *s.Session.ID
		if branch := strings.TrimSpace(gitIn(t, top, "branch", "--show-current")); s.CWD != top || s.Branch != branch || branch != "try/g-6/"+s.Name {
			t.Errorf("%s works in %s on %s, where git says %s", s.Name, s.CWD, s.Branch, branch)
		}
		storedIn(t, w, s.Adapter, id, top)
		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.Session.PID)); err != nil || dir != top {
			t.Errorf("%s: process %d is in %s, %v", s.Name, s.Session.PID, dir, err)
		}
		live, dead = append(live, row(id, s.Session.PID, "running")), append(dead, id)
	}
	if slices.Sort(told); !slices.Equal(told, names) {
		t.Errorf("launched: %q", told)
	}
	c.expect(live, "--group", "g-6")
	if out, errs, code := c.run("stop", "--group", "g-6", "--timeout", "2m"); code != 0 {
		t.Fatalf("stop: exit code %d\n%s%s", code, out, errs)
	}
	if rows := c.list("--group", "g-6"); len(rows) > 0 {
		t.Errorf("after stop: %q", rowsOf(rows))
	}
	var after []string
	for _, s := range c.list("-a", "--group", "g-6") {
		after = append(after, *s.ID)
		if s.Status != "stopped" || s.Group != "g-6" {
			t.Errorf("%s of group %q", rowOf(s), s.Group)
		}
	}
	slices.Sort(after)
	if slices.Sort(dead); !slices.Equal(after, dead) {
		t.Errorf("list -a --group has %q, and the group are %q", after, dead)
	}
	if out, errs, code := c.run("worktree", "clean", "--group", "g-6", "--delete-branch"); code != 0 || strings.Count(out, "\n") != 12 {
		t.Errorf("clean: exit code %d\n%s%s", code, out, errs)
	}
	if left := gitIn(t, c.dir, "worktree", "list") + gitIn(t, c.dir, "branch", "--list", "try/*"); strings.Count(left, "\n") != 1 {
		t.Errorf("left:\n%s", left)
	}
}

// storedIn waits until the agent has stored the session as one of that directory.
func storedIn(t *testing.T, w *world.World, agent, id, dir string) {
	t.Helper()
	if agent != install.OpenCode {
		fileWith(t, stores(w, agent), id+".jsonl", fmt.Sprintf(`"cwd":%q`, dir))
		return
	}
	if got := openCodeDir(t, w, id); got != dir {
		t.Errorf("%s is stored as one of %s, not of %s", id, got, dir)
	}
}
