package githooks_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"agentctl/lock/githooks"
	"agentctl/tests/must"
)

// All worktrees of a repository have its hooks, wherever they are installed from, and uninstalled.
func TestSharedByWorktrees(t *testing.T) {
	s := newSandbox(t)
	s.git("repo", "worktree", "add", "-q", "../linked")
	s.git("", "clone", "-q", "--bare", "repo", "bare.git")
	s.git("bare.git", "worktree", "add", "-q", "inner", "main")
	s.git("bare.git", "worktree", "add", "-q", "../outer")
	s.write("repo/sub/file", "", 0o644)
	for _, where := range [][]string{{"repo", "repo/sub", "linked", "repo/.git"}, {"bare.git", "bare.git/inner", "outer"}} {
		for _, from := range where {
			if got := s.install(from); got != "installed+" {
				t.Errorf("from %s: %s", from, got)
			}
			for _, dir := range where {
				if got := states(s.status(dir)); got != "installed" {
					t.Errorf("from %s, in %s: %s", from, dir, got)
				}
				if dir == "bare.git" || dir == "repo/.git" {
					continue
				}
				if _, err := s.commit(dir); err != nil || !strings.HasPrefix(s.called(), "hooks run pre-commit; ") {
					t.Errorf("from %s, in %s: %v", from, dir, err)
				}
			}
			if got := s.uninstall(where[0]); got != "not_installed+" {
				t.Error(got)
			}
		}
	}
}

// A directory for hooks that is the repository's own is used, whatever it is called, and made if it is not there.
func TestOwnHooksPath(t *testing.T) {
	for _, path := range []string{"", ".git/hooks", ".git/more/hooks"} {
		s := newSandbox(t)
		must.Do(t, os.RemoveAll(s.path(hooksDir)))
		if path != "" {
			s.git("repo", "config", "core.hooksPath", path)
		}
		if got := s.uninstall("repo"); got != "not_installed" {
			t.Error(got)
		}
		if got := s.install("repo"); got != "installed+" {
			t.Error(got)
		}
		if _, err := s.commit("repo"); err != nil || s.called() == "" {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A relative core.hooksPath begins at the top of each worktree. In a linked one, .git is a file, so that git finds no hooks behind it.
func TestHooksPathThroughFile(t *testing.T) {
	for _, path := range []string{".git/hooks", ".git/more/hooks"} {
		s := newSandbox(t)
		s.git("repo", "worktree", "add", "-q", "../linked")
		s.git("repo", "config", "core.hooksPath", path)
		s.write("linked/sub/file", "", 0o644)
		if got := s.install("repo"); got != "installed+" {
			t.Error(got)
		}
		for _, dir := range []string{"linked", "linked/sub"} {
			for _, h := range s.status(dir) {
				if h.State != githooks.Foreign || h.Path != s.path("linked", path, h.Name) || !strings.Contains(h.Advice, "unset core.hooksPath") {
					t.Errorf("%s: %+v", dir, h)
				}
			}
			_, err := s.find(dir).Install(t.Context(), s.wanted())
			if refused, ok := errors.AsType[*githooks.RefusedError](err); !ok || !strings.Contains(refused.Error(), "core.hooksPath") {
				t.Errorf("%s: %v", dir, err)
			}
		}
		if _, err := s.commit("linked"); err != nil || s.called() != "" {
			t.Errorf("git runs the hooks: %v", err)
		}
	}
	s := newSandbox(t)
	s.git("repo", "config", "core.hooksPath", s.path("code", "hooks"))
	if list := s.status("repo"); list[0].Path != s.path("code", "hooks", list[0].Name) || list[0].State != githooks.Foreign {
		t.Errorf("%+v", list[0])
	}
}

// Hooks that are not the repository's own are not written; the refusal says why and what the user can add, and who adds
// it is done.
func TestForeign(t *testing.T) {
	for name, tc := range map[string]struct {
		set       func(s *sandbox)
		why       string
		manager   string
		file, add string // for pre-commit
	}{
		"tracked": {func(s *sandbox) {
			s.git("repo", "config", "core.hooksPath", ".githooks")
		}, "core.hooksPath in .git/config), among the files of the worktree", "", "repo/.githooks/pre-commit", "agentctl hooks run pre-commit || exit 1"},
		"husky": {func(s *sandbox) {
			s.write("repo/.husky/_/pre-commit", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755)
			s.git("repo", "config", "core.hooksPath", ".husky/_")
		}, "among the files", "husky", "repo/.husky/pre-commit", "agentctl hooks run pre-commit || exit 1"},
		"everybody's": {func(s *sandbox) {
			s.git("repo", "config", "--global", "core.hooksPath", s.path("all"))
		}, "outside of the repository", "", "all/pre-commit", "agentctl hooks run pre-commit || exit 1"},
		"none": {func(s *sandbox) {
			s.git("repo", "config", "core.hooksPath", "/dev/null")
		}, "takes the hooks from /dev/null", "", "", "/dev/null is not a directory"},
		"linked directory": {func(s *sandbox) {
			s.write("repo/scripts/x", "", 0o644)
			must.Do(s, errors.Join(os.RemoveAll(s.path(hooksDir)), os.Symlink("../scripts", s.path(hooksDir))))
		}, "among the files", "", "repo/.git/hooks/pre-commit", "agentctl hooks run pre-commit"},
		"linked hook": {func(s *sandbox) {
			s.write("repo/scripts/check", "#!/bin/sh\n", 0o755)
			s.write(hooksDir+"/x", "", 0o644)
			must.Do(s, os.Symlink("../../scripts/check", s.path(hooksDir, "pre-commit")))
		}, "pre-commit is a link to ../../scripts/check", "", "repo/scripts/check", "agentctl hooks run pre-commit || exit 1"},
		"lefthook": {func(s *sandbox) {
			s.write(hooksDir+"/pre-commit", "#!/bin/sh\ncall_lefthook run \"pre-commit\" \"$@\"\n", 0o755)
		}, "is made by lefthook", "lefthook", "repo/lefthook-local.yml", "have lefthook run: agentctl hooks run pre-commit"},
		"pre-commit": {func(s *sandbox) {
			s.write(hooksDir+"/pre-commit", "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n", 0o755)
		}, "is made by pre-commit", "pre-commit", "repo/.pre-commit-config.yaml", "have pre-commit run: agentctl hooks run pre-commit"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			tc.set(s)
			before := s.tree("repo")
			_, err := s.find("repo").Install(s.Context(), s.wanted())
			var refused *githooks.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tc.why) || !strings.Contains(refused.Advice(), tc.add) {
				t.Fatalf("%v", err)
			}
			if h := s.status("repo")[0]; h.State != githooks.Foreign || h.Manager != tc.manager || h.Advice == "" {
				t.Errorf("%+v", h)
			}
			if s.uninstall("repo"); s.tree("repo") != before {
				t.Errorf("something has changed:\n%s", s.tree("repo"))
			}
			if tc.file == "" {
				return
			}
			s.write(tc.file, s.read(tc.file)+"\n"+strings.TrimPrefix(s.status("repo")[0].Advice, "add to "), 0o755)
			if h := s.status("repo")[0]; h.State != githooks.Manual {
				t.Errorf("%+v", h)
			}
		})
	}
}

// The line that is told for shell scripts does what an installed hook does, also where there is no agentctl.
func TestAdvisedLine(t *testing.T) {
	s := newSandbox(t)
	s.git("repo", "config", "core.hooksPath", ".githooks")
	for _, h := range s.status("repo") {
		_, lines, _ := strings.Cut(h.Advice, ": ")
		s.write("repo/.githooks/"+h.Name, "#!/bin/sh -e\n"+lines+"\n", 0o755)
	}
	if list, err := s.find("repo").Install(s.Context(), s.wanted()); err != nil || states(list) != "manual" {
		t.Errorf("%s, %v", states(list), err)
	}
	if out, err := s.commit("repo"); out != "" || err != nil {
		t.Errorf("without agentctl: %q, %v", out, err)
	}
	s.env[0] = "PATH=" + s.path("it's") + ":" + os.Getenv("PATH")
	for code, stops := range map[string]bool{"0": false, "5": true} {
		s.code(code)
		if _, err := s.commit("repo"); (err != nil) != stops {
			t.Errorf("exit %s: %v", code, err)
		}
	}
}

// Lines of ours that somebody has changed are left alone, and so is everything else.
func TestModified(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"a line changed": func(s string) string { return strings.Replace(s, "exit 1", "exit 0", 1) },
		"a line added":   func(s string) string { return strings.Replace(s, "agentctl_program=$(", "agentctl_program=$(:; ", 1) },
		"no end":         func(s string) string { return strings.Replace(s, "# <<< agentctl hooks <<<\n", "", 1) },
		"no beginning": func(s string) string {
			return strings.Join(append(strings.SplitAfter(s, "\n")[:1], strings.SplitAfter(s, "\n")[2:]...), "")
		},
		"twice":       func(s string) string { return s + strings.TrimPrefix(s, "#!/bin/sh\n") },
		"line breaks": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.install("repo")
			s.write(hooksDir+"/pre-commit", change(s.read(hooksDir+"/pre-commit")), 0o755)
			before := s.tree(hooksDir)
			var refused *githooks.RefusedError
			_, err := s.find("repo").Install(s.Context(), githooks.InstallOptions{Program: "/other"})
			_, err2 := s.find("repo").Uninstall(s.Context())
			if !errors.As(err, &refused) || !errors.As(err2, &refused) || !strings.Contains(err.Error(), "somebody has changed") || s.tree(hooksDir) != before {
				t.Errorf("%v, %v\n%s", err, err2, s.tree(hooksDir))
			}
			if list := s.status("repo"); states(list) != "modified installed" {
				t.Errorf("%+v", list)
			}
		})
	}
}

// A hook that lost its right to run is no guard; a name that is taken keeps what is there.
func TestInTheWay(t *testing.T) {
	s := newSandbox(t)
	s.install("repo")
	must.Do(t, os.Chmod(s.path(hooksDir, "pre-push"), 0o644))
	if _, err := s.find("repo").Install(s.Context(), s.wanted()); err == nil || !strings.Contains(err.Error(), "not executable") {
		t.Error(err)
	}
	if got := s.uninstall("repo"); got != "not_installed+" {
		t.Error(got)
	}
	s.write(hooksDir+"/pre-push", "#!/bin/cat\n", 0o755)
	s.write(hooksDir+"/pre-push.agentctl-original", "mine", 0o600)
	before := s.tree(hooksDir)
	if _, err := s.find("repo").Install(s.Context(), s.wanted()); err == nil || !strings.Contains(err.Error(), "already exists") || s.tree(hooksDir) != before {
		t.Errorf("%v\n%s", err, s.tree(hooksDir))
	}
}
