package hostile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"agentctl/tests/hostile/mutate"
)

// repository damages locks, the configuration, git's files and hooks.
func (t *trial) repository() error {
	b := &t.bases[t.IntN(len(t.bases))]
	if err := t.survey(b); err != nil {
		return err
	}
	if err := copyTree(b.dir, t.home); err != nil {
		return err
	}
	t.run("lock", t.repo, "--reason", short(mutate.Text(t.Rand)), "--by", "someone else")
	if err := t.git("worktree", "add", "-q", filepath.Join(t.dir, "repo-try-g-cc"), "-b", "try/g/cc"); err != nil {
		return err
	}
	for range 1 + t.IntN(3) {
		t.Mutations++
		if err := t.damageRepository(); err != nil {
			t.note("%v", err) // what was damaged before is in the way
		}
	}
	before, err := readTree(t.home)
	if err != nil {
		return err
	}
	var ids []string
	for _, s := range b.sessions {
		if s.ID != nil {
			ids = append(ids, *s.ID)
		}
	}
	t.read(ids, 4)
	for range 4 {
		c := t.command(pick(t, []string{
			"locks --json", "guard REPO --json", "lock REPO -- true", "lock REPO --json", "unlock REPO", "unlock REPO --force", "hooks install", "hooks uninstall",
			"hooks status --json", "worktree list --json", "worktree clean try/g/cc", "worktree clean --group g --json --delete-branch", "hooks run prepare-commit-msg -- msg",
			"doctor --json", "metrics", "__complete worktree clean ",
		}), ids)
		if t.armed && c[0] == "worktree" && c[1] == "clean" {
			continue // who removes a worktree has git work there, hooks and all
		}
		t.do(&call{args: c})
	}
	t.unchanged("the home", t.home, before)
	return nil
}

// put writes a file in place of whatever has its name. It opens nothing that is there, since that may be a FIFO.
func put(path, text string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func short(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	return text[:min(len(text), 1000)]
}

// git runs git as a person would, without the programs that stand for canaries.
func (t *trial) git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = t.repo
	cmd.Env = t.environment("PATH=" + os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %q: %w\n%s", args, err, out)
	}
	return nil
}

// damageRepository does one damage to what agentctl reads beside the agents' stores.
func (t *trial) damageRepository() error {
	switch t.IntN(7) {
	case 0: // the file of the declared lock, or the directory of all
		list, _ := filepath.Glob(filepath.Join(t.dir, "state/agentctl/locks/*"))
		if len(list) == 0 || t.IntN(5) == 0 {
			return t.replaceOutside(filepath.Join(t.dir, "state/agentctl/locks"))
		}
		return t.damageFile(list[t.IntN(len(list))])
	case 1:
		path := filepath.Join(t.dir, "config/agentctl/config.toml")
		text := pick(t, []string{
			"since = \"7d\"\n", "[homes]\nclaude-code = [\"" + t.dir + "/fifo\"]\n", "[homes]\ncodex = [\"/dev/zero\", \"/proc/self/mem\"]\n", "unknown = 1\n", "strict = \"x\"\n",
			"since = \"\x1b[2J\"\n", "a = [" + strings.Repeat("[", 20_000), strings.Repeat("# long\n", 500_000), "\xff\xfe", "since = \"" + strings.Repeat("9", 1000) + "d\"\n",
		})
		if err := put(path, text); err != nil {
			return err
		}
		t.note("configuration %.60q", text)
		if !exists(filepath.Join(t.dir, "fifo")) {
			if err := syscall.Mkfifo(filepath.Join(t.dir, "fifo"), 0o644); err != nil {
				return err
			}
		}
		if t.IntN(3) == 0 {
			return t.damageFile(path)
		}
		return nil
	case 2:
		t.armed = true
		return t.hostileRepository(t.repo)
	case 3: // git's own files stay files: git waits for whatever else they are
		name := pick(t, []string{"HEAD", "config", "index", "worktrees/repo-try-g-cc/HEAD", "worktrees/repo-try-g-cc/gitdir", "worktrees/repo-try-g-cc/commondir", "refs/heads/main", "packed-refs"})
		return t.damageContent(filepath.Join(t.repo, ".git", name))
	case 4:
		hooks := filepath.Join(t.repo, ".git/hooks")
		if t.IntN(3) == 0 {
			return t.replaceOutside(hooks)
		}
		path := filepath.Join(hooks, pick(t, []string{"pre-commit", "pre-push", "prepare-commit-msg", "post-checkout", "pre-rebase"}))
		if !exists(path) {
			if err := os.WriteFile(path, []byte("#!/bin/sh\n# agentctl\n"), 0o755); err != nil {
				return err
			}
		}
		return t.damageFile(path)
	case 5:
		return t.damageContent(filepath.Join(t.dir, "repo-try-g-cc", ".git"))
	default: // a branch and a worktree that mean something to a shell
		if t.Mutations > 1 {
			return nil // git itself would run what the repository names, or wait for what is no file
		}
		program := filepath.Join(t.dir, "bin/sh-canary")
		branch := pick(t, []string{"x$(" + program + ")y", "x`" + program + "`", "a;" + program, "a'b", "a\"b", "x$(touch${IFS}pw)y", "-x", "é😀", "a&b", "a|b", "(a)", "a{b,c}"})
		dir := filepath.Join(t.dir, strings.ReplaceAll(mutate.Name(t.Rand), "/", "")+"-wt")
		if len(filepath.Base(dir)) > 255 || exists(dir) {
			return nil
		}
		t.note("worktree %q on %q", dir, branch)
		_ = t.git("worktree", "add", "-q", "-b", branch, "--", dir) // git refuses some
		return nil
	}
}

// damageFile damages the content of a file, or what it is.
func (t *trial) damageFile(path string) error {
	if t.IntN(3) == 0 {
		return t.replaceOutside(path)
	}
	return t.damageContent(path)
}

// damageContent damages the content of a file.
func (t *trial) damageContent(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<20 {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw, what := mutate.Pick(t.Rand, append(mutate.Bytes(), mutate.Lines()...))(t.Rand, raw)
	t.note("%q: %s", path, what)
	return os.WriteFile(path, raw, 0o644)
}

// replaceOutside puts a special file in place of one that is not in the home.
func (t *trial) replaceOutside(path string) error {
	if !exists(filepath.Dir(path)) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	old := filepath.Join(t.dir, fmt.Sprintf("old-%d", t.Mutations))
	if err := os.Rename(path, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return t.special(path, old, t.IntN(9))
}
