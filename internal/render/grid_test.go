package render_test

import (
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

// A narrow terminal still shows which directory is locked, and by whom.
func TestLockTableFits(t *testing.T) {
	id := "88d1d394-0000-4000-8000-000000000000"
	locks := []object.Lock{
		{Directory: "/home/me/src/project", Kind: "session", Since: "2026-11-20T11:00:00.000Z", Adapter: "claude-code", SessionID: &id, PID: 4711},
		{Directory: "/srv/a", Kind: "declared", Since: "2026-11-20T11:00:00.000Z", LockedBy: "ana", Reason: "a reason that goes on and on and on and on"},
	}
	for width, want := range map[int]string{
		0: "DIR            TYPE      BY                                                 PID  SINCE             REASON\n" +
			"~/src/project  session   claude-code 88d1d394-0000-4000-8000-000000000000  4711  2026-11-20 11:00\n" +
			"/srv/a         declared  ana                                                     2026-11-20 11:00  a reason that goes on and on and on and on\n",
		80: "DIR            TYPE      BY                    SINCE             REASON\n" +
			"~/src/project  session   claude-code 88d1d394  2026-11-20 11:00\n" +
			"/srv/a         declared  ana                   2026-11-20 11:00  a reason that …\n",
		40: "DIR            BY\n~/src/project  claude-code 88d1d394\n/srv/a         ana\n",
	} {
		var out strings.Builder
		if err := render.LockTable(&out, locks, render.TextOptions{Width: width, Now: now, Home: "/home/me"}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, out.String(), want)
		}
	}
}

// A narrow terminal shows as much of the reason for a foreign hook as fits.
func TestGitHookTableFits(t *testing.T) {
	list := []object.GitHook{{Hook: "pre-commit", State: "foreign", Path: "/srv/a/.husky/_/pre-commit", Reason: "git takes the hooks from /srv/a/.husky/_"}}
	for width, want := range map[int]string{
		50: "HOOK        STATE    REASON\npre-commit  foreign  git takes the hooks from /sr…\n",
		90: "HOOK        STATE    PATH                        REASON\npre-commit  foreign  /srv/a/.husky/_/pre-commit  git takes the hooks from /srv/a/.husky/_\n",
	} {
		var out strings.Builder
		if err := render.GitHookTable(&out, list, render.TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, out.String(), want)
		}
	}
}

// A narrow terminal still shows the sessions of a worktree.
func TestWorktreeTableFits(t *testing.T) {
	id, other := "88d1d394-0000-4000-8000-000000000000", "99d1d394-0000-4000-8000-000000000000"
	list := []object.Worktree{{Path: "/srv/a", Branch: "main", Head: "d38f206391234567", Main: true, Sessions: []object.Session{
		{ID: &id, Adapter: "claude-code", Status: "running"}, {ID: &other, Adapter: "claude-code", Status: "waiting"},
	}}}
	var out strings.Builder
	if err := render.WorktreeTable(&out, list, render.TextOptions{Width: 50}); err != nil {
		t.Fatal(err)
	}
	if want := "PATH    BRANCH  SESSIONS\n/srv/a  main    claude-code 88d1d394 running, cla…\n"; out.String() != want {
		t.Errorf("%s\nwant:\n%s", out.String(), want)
	}
}
