package lock_test

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/lock"
)

func TestPlace(t *testing.T) {
	root := tree(t)
	p, err := lock.WorkspaceOf(filepath.Join(root, "repo", "sub"))
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		"repo": true, "repo/sub/deep": true, "link": true, "repo/wt/a": false, "plain": false, "nowhere": false,
	} {
		for range 2 {
			if p.Contains(filepath.Join(root, dir)) != want {
				t.Errorf("%s: %v", dir, !want)
			}
		}
	}
	if p.Contains("") {
		t.Error("no directory at all is in it")
	}
}

// A directory that is gone is in no worktree; only its own name matches.
func TestPlaceGone(t *testing.T) {
	root := tree(t)
	dir := filepath.Join(root, "plain")
	p, err := lock.WorkspaceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{dir: true, dir + "/": true, dir + "/sub": false} {
		if p.Contains(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
