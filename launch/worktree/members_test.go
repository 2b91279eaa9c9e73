package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
)

// A worktree names its group, by its branch or by its directory.
func TestWorktreesOfMembers(t *testing.T) {
	for name, test := range map[string]struct {
		group  Group
		member launch.Member
		want   CreateOptions
	}{
		"by the group":              {Group{Name: "g"}, launch.Member{Name: "a"}, CreateOptions{Dir: "/w/repo-try-g-a", Branch: "try/g/a"}},
		"a branch of its own":       {Group{Name: "g"}, launch.Member{Name: "a", Branch: "fix", Base: "main"}, CreateOptions{Dir: "/w/repo-fix", Branch: "fix", Base: "main"}},
		"named by the directory":    {Group{"g", true}, launch.Member{Name: "a", Branch: "fix"}, CreateOptions{Dir: discover.GroupWorktreeDir("/w/repo", "g", "fix"), Branch: "fix"}},
		"named by the branch alone": {Group{"g", true}, launch.Member{Name: "a"}, CreateOptions{Dir: "/w/repo-try-g-a", Branch: "try/g/a"}},
	} {
		if got := test.group.options(Worktree{Path: "/w/repo"}, test.member); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// A git that waits for ever, as it does where one of its files is a FIFO, is ended, and the error says so.
func TestGitThatWaitsForEver(t *testing.T) {
	program := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec tail -f /dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Repo{program: program, environ: []string{"PATH=" + os.Getenv("PATH")}, dir: t.TempDir(), timeout: 50 * time.Millisecond}
	r.common = r.dir
	if _, err := r.List(t.Context()); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("%v", err)
	}
	if _, err := r.Output(t.Context(), "rev-parse", "--show-toplevel"); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("%v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.List(stopped); err == nil || strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("after an interrupt: %v", err)
	}
}
