package realagents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// git runs it as a person does, in the directory that the agent works in.
func git(t *testing.T, a world.Agent, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=p", "-c", "user.email=p@localhost"}, args...)...)
	cmd.Dir, cmd.Env = a.Dir(), a.Environ()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

const agentCommits = "git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m"

// TestCommitsInAGuardedRepository: every agent commits through its tool, in its own session, and is named; a person's commit
// is refused meanwhile, and told who it is.
func TestCommitsInAGuardedRepository(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		c.does("hooks", "install", "--repo", a.Dir())
		var args []string
		if a.Agent() == install.Codex { // its sandbox cannot write to .git
			args = []string{"--dangerously-bypass-approvals-and-sandbox"}
		}
		tool := w.Tool(a.Dir())
		prompt := "commit in " + a.Agent()
		p := a.Run(prompt+" [[shell "+agentCommits+" 'by the agent' > said 2>&1;; shell "+tool.Command+";; text done]]", args...)
		tool.WaitRunning()
		id := idOf(t, w, a, prompt)
		person, err := git(t, a, "commit", "-q", "--allow-empty", "-m", "by a person")
		if err == nil || !strings.Contains(person, a.Agent()+" "+id) || !strings.Contains(person, "git commit --no-verify") {
			t.Errorf("the user's commit: %v, %q", err, person)
		}
		if out, err := git(t, a, "commit", "-q", "--no-verify", "--allow-empty", "-m", "nevertheless"); err != nil {
			t.Errorf("overridden: %v, %q", err, out)
		}
		tool.End()
		p.Wait()
		said, err := os.ReadFile(filepath.Join(a.Dir(), "said"))
		if err != nil || strings.Contains(string(said), "error") {
			t.Errorf("git told the agent %q, %v", said, err)
		}
		if out, err := git(t, a, "commit", "-q", "--allow-empty", "-m", "afterwards"); err != nil || out != "" {
			t.Errorf("afterwards: %v, %q", err, out)
		}
		log, err := git(t, a, "log", "--reverse", "--format=%s|%(trailers:separator=%x2C)")
		want := []string{"first|", "by the agent|Agent-Session: " + a.Agent() + "/" + id, "nevertheless|", "afterwards|"}
		if got := strings.Split(log, "\n"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestInsideCodexSandbox: a tool in the sandbox, from which nothing else can be seen, knows its session; nothing outside is
// called stopped, and the guard says that it cannot see who is at work.
func TestInsideCodexSandbox(t *testing.T) {
	w, a, _ := newest(t, install.Codex)
	other := w.Claude(install.ClaudeCurrent).In(a.Dir())
	other.Run("stays at work [[hang]]")
	w.WaitCall("stays at work", 0)
	otherID := idOf(t, w, other, "stays at work")
	ask := func(args string) string { return os.Getenv(binary) + " " + args + "; echo exit $?; " }
	prompt := "look around"
	a.Run(prompt + " [[shell (" + ask("current -q") + ask("status "+otherID) + ask("guard -q") + ") > said 2>&1;; text done]]").Wait()
	raw, err := os.ReadFile(filepath.Join(a.Dir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	said := string(raw)
	if id := idOf(t, w, a, prompt); !strings.HasPrefix(said, id+"\nexit 0\n") {
		t.Errorf("the tool was told\n%s, its session is %s", said, id)
	}
	if regexp.MustCompile(`(?m)^status +stopped`).MatchString(said) {
		t.Errorf("a live session is called stopped:\n%s", said)
	}
	if !strings.HasSuffix(said, "exit 0\n") || strings.Count(said, "other sessions cannot be seen") != 2 {
		t.Errorf("it is not said what cannot be seen:\n%s", said)
	}
}
