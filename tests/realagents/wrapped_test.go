package realagents

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/proc"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestHiddenBehindAScript: Nix installs an agent as .claude-wrapped behind a script of its name that replaces itself with it.
func TestHiddenBehindAScript(t *testing.T) {
	w := world.New(t)
	claude, codex, opencode := w.Claude(install.ClaudeCurrent), w.Codex(install.CodexCurrent), w.OpenCode(install.OpenCodeCurrent)
	var want []string
	for name, a := range map[string]world.Agent{"claude": claude, "codex": codex, "opencode": opencode} {
		c := agentctlIn(t, w).as(a)
		hidden := hide(t, a.Native, name)
		c.env = append(c.env, "PATH="+filepath.Dir(hidden)+":"+c.path())
		id := c.launched(a.Agent(), "--force", "-p", "behind a script: "+name+" [[hang]]")
		s := c.status(id)
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID)); err != nil || exe != hidden {
			t.Errorf("%s: pid %d runs %s, %v", name, s.PID, exe, err)
		}
		want = append(want, row(id, s.PID, "running"))
		defer func() {
			if out, errs, code := c.run("stop", id); code != 0 {
				t.Errorf("%s: stop: exit code %d, %s%s", name, code, out, errs)
			}
		}()
	}
	got := rowsOf(agentctlIn(t, w).list())
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// hide puts a program behind a script of that name, as nixpkgs' wrapProgram does, and returns where it is then.
func hide(t *testing.T, program, name string) string {
	t.Helper()
	dir := t.TempDir()
	hidden := filepath.Join(dir, "."+name+"-wrapped")
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(program, hidden); err != nil {
		copyProgram(t, program, hidden) // on another disk
	}
	if got := proc.ProgramName(hidden); got != name {
		t.Fatalf("%s is %s", hidden, got)
	}
	script := fmt.Sprintf("#!/usr/bin/env bash\nexec -a \"$0\" %q \"$@\"\n", hidden)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return hidden
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err = out.Close(); err != nil {
		t.Fatal(err)
	}
}
