package worktree

import (
	"testing"

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
		"named by the directory":    {Group{"g", true}, launch.Member{Name: "a", Branch: "fix"}, CreateOptions{Dir: GroupDir(Worktree{Path: "/w/repo"}, "g", "fix"), Branch: "fix"}},
		"named by the branch alone": {Group{"g", true}, launch.Member{Name: "a"}, CreateOptions{Dir: "/w/repo-try-g-a", Branch: "try/g/a"}},
	} {
		if got := test.group.options(Worktree{Path: "/w/repo"}, test.member); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
