//go:build linux && (amd64 || arm64)

package githooks_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/trace"
)

// Whenever it is killed, at any call that changes something, every hook is the old one or the new one, git goes on, and
// the next call does what there is left to do.
func TestKilled(t *testing.T) {
	for _, what := range []string{"install", "uninstall"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s := newSandbox(t)
				s.write(hooksDir+"/pre-commit", "#!/bin/sh\necho mine\n", 0o755)
				s.write(hooksDir+"/pre-rebase", "#!/bin/cat\n", 0o700)
				old := s.tree(hooksDir)
				s.install("repo")
				installed := s.tree(hooksDir)
				if what == "install" {
					s.uninstall("repo")
				}
				reached := s.killed(what, n)
				s.eitherOr(old, installed)
				if out, err := s.commit("repo"); out != "mine" || err != nil {
					t.Errorf("commit: %q, %v", out, err)
				}
				if n%2 == 0 { // the other way round is as good
					s.install("repo")
					if s.tree(hooksDir) != installed {
						t.Errorf("installed:\n%s", s.tree(hooksDir))
					}
				}
				if s.uninstall("repo"); s.tree(hooksDir) != old {
					t.Errorf("uninstalled:\n%s\nwant:\n%s", s.tree(hooksDir), old)
				}
				if t.Failed() {
					t.Fatalf("at change %d", n)
				}
				if !reached {
					t.Logf("%d changes", n-1)
					return
				}
			}
		})
	}
}

// killed runs the helper and kills it at the nth call that changes something in the sandbox.
func (s *sandbox) killed(what string, n int) (reached bool) {
	s.Helper()
	cmd := exec.Command(os.Args[0], s.path("repo"), s.wanted().Program)
	cmd.Env = append(slices.Clip(s.env), helperKey+"="+what)
	changes := 0
	r, err := trace.Kill(cmd, func(c trace.Call) bool {
		if c.Effect == "" || c.Effect == trace.MapWrite || !strings.HasPrefix(c.Path, s.root+"/") && !strings.HasPrefix(c.To, s.root+"/") {
			return false
		}
		changes++
		reached = reached || changes == n
		return changes == n
	})
	if err != nil || !reached && r.Exit != 0 {
		s.Fatalf("%s: exit %d, %v", what, r.Exit, err)
	}
	return reached
}

// eitherOr fails if a hook is neither the old one nor the new one.
func (s *sandbox) eitherOr(trees ...string) {
	s.Helper()
	known := map[string]bool{}
	for _, tree := range trees {
		for line := range strings.Lines(tree) {
			known[line] = true
		}
	}
	for line := range strings.Lines(s.tree(hooksDir)) {
		if !known[line] && !strings.Contains(line, "/.agentctl-draft-") {
			s.Errorf("half: %s", line)
		}
	}
	for _, h := range s.status("repo") {
		if h.State != "installed" && h.State != "not_installed" {
			s.Errorf("%+v", h)
		}
	}
}
