package realagents

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestDemoHands is the second part of tests/demo: each agent is launched, waited for, resumed and stopped, and then all
// three work on one task, apart from each other and guarded against.
func TestDemoHands(t *testing.T) {
	w := world.New(t)
	agents := map[string]world.Agent{
		"claude-code": w.Claude(install.ClaudeCurrent), "codex": w.Codex(install.CodexCurrent), "opencode": w.OpenCode(install.OpenCodeCurrent),
	}
	order := []string{"claude-code", "codex", "opencode"}
	for _, name := range order {
		c := agentctlIn(t, w).as(agents[name])
		say("One turn of " + name + ", from start to end, and another one that is stopped:")
		id := strings.TrimSpace(c.show("launch", name, "-p", "say hello"))
		c.show("wait", id)
		c.show("resume", id, "and now think for ever [[hang]]")
		c.show("list")
		c.show("stop", id)
	}

	say("All three on one task, each in a worktree and on a branch of its own:")
	repo := w.Dir("compare")
	c := agentctlIn(t, w).asAll(agents["claude-code"], agents["codex"], agents["opencode"])
	c.dir = repo
	args := []string{"launch", "-p", "port the parser [[hang]]", "--group", "g-parser"}
	for _, name := range order {
		args = append(args, "--adapter", name)
	}
	w.Trust(repo+"-try-g-parser-cc", repo+"-try-g-parser-codex", repo+"-try-g-parser-opencode")
	c.show(args...)
	c.show("list", "--group", "g-parser")
	say("The repository itself is free, the worktrees are not:")
	c.show("guard")
	c.showExit(5, "guard", repo+"-try-g-parser-codex")
	say("Git hooks keep a person's commit out of an agent's turn:")
	c.show("hooks", "install")
	commit := func(flags ...string) error {
		args := append([]string{"-C", repo + "-try-g-parser-codex", "-c", "user.name=ana", "-c", "user.email=ana@localhost", "commit", "--allow-empty", "-m", "mine"}, flags...)
		cmd := exec.Command("git", args...)
		cmd.Env = append([]string{"HOME=" + c.home}, c.env...)
		out, err := cmd.CombinedOutput()
		fmt.Printf("\n$ git commit --allow-empty -m mine %s\n%s", strings.Join(flags, " "), strings.ReplaceAll(string(out), c.home, "~"))
		return err
	}
	if err := commit(); err == nil {
		t.Error("a commit passed the guard")
	}
	if err := commit("--no-verify"); err != nil {
		t.Errorf("an override did not: %v", err)
	}
	c.show("hooks", "uninstall")
	c.show("stop", "--group", "g-parser")
	c.show("list", "-a", "--group", "g-parser")
	c.show("worktree", "clean", "--group", "g-parser", "--delete-branch", "--force")
	if out, err := exec.Command("git", "-C", repo, "worktree", "list").Output(); err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("left: %s, %v", out, err)
	}
}

// showExit is show for a command that is to end with this exit code.
func (c agentctl) showExit(code int, args ...string) {
	c.t.Helper()
	out, errs, got := c.run(args...)
	fmt.Printf("\n$ agentctl %s\n%s%s", strings.Join(args, " "), out, strings.ReplaceAll(errs, c.home, "~"))
	if got != code {
		c.t.Errorf("agentctl %q: exit code %d, want %d", args, got, code)
	}
}
