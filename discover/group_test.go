package discover

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGroup(t *testing.T) {
	root := t.TempDir()
	git, tree := filepath.Join(root, "repo/.git/worktrees/x"), filepath.Join(root, "repo-try-g-1-cc")
	for path, text := range map[string]string{
		git + "/HEAD": "ref: refs/heads/try/g-1/cc\n", tree + "/.git": "gitdir: " + git + "\n", tree + "/sub/file": "",
		root + "/a-try-b/.git": "nonsense",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ branch, dir, want string }{
		{"try/g-2/codex", "", "g-2"},
		{"try/g-2/codex", tree, "g-2"},
		{"main", tree, "g-1"},
		{"", tree + "/sub", "g-1"},
		{"", root, ""},
		{"", root + "/a-try-b", ""},
		{"", "/gone-try-x", ""},
		{"", "relative-try-x", ""},
		{"try/g-2", "", ""},
	} {
		s := Session{Record: &Record{Branch: tc.branch, Dir: tc.dir}}
		if got := groupOf(&s); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}
