package worktree

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/lock"
)

// Group is a launch group whose members work in worktrees of their own.
type Group struct {
	Name string
	// NameInDir: the directory of a worktree contains the name of the group if its branch does not.
	NameInDir bool
}

// options returns how the worktree of a member is created.
func (g Group) options(main Worktree, m launch.Member) CreateOptions {
	want := CreateOptions{Branch: cmp.Or(m.Branch, GroupBranch(g.Name, m.Name)), Base: m.Base}
	want.Dir = DefaultDir(main, want.Branch)
	if g.NameInDir && discover.GroupOfBranch(want.Branch) == "" {
		want.Dir = GroupDir(main, g.Name, want.Branch)
	}
	return want
}

// CreateForMember creates the worktree of a member, or returns the existing one; see [Repo.Create]. workDir is the directory that
// the agent works in: the one that corresponds to dir, if dir is in another worktree of the repository, else the top.
func (r *Repo) CreateForMember(ctx context.Context, g Group, m launch.Member, dir string) (w CreateResult, workDir string, err error) {
	list, err := r.List(ctx)
	if err != nil {
		return w, "", err
	}
	if w, err = r.Create(ctx, g.options(list[0], m)); err != nil {
		return w, "", err
	}
	return w, correspondingDir(w.Path, dir, list), nil
}

// correspondingDir returns the directory in a new worktree that corresponds to one in another worktree; the top if
// there is none.
func correspondingDir(top, dir string, list []Worktree) string {
	workspace, err := lock.WorkspaceOf(dir)
	if err != nil {
		return top
	}
	if _, ok := FindByPath(list, workspace.Top); !ok {
		return top
	}
	rel, err := filepath.Rel(workspace.Top, dir)
	if err != nil {
		return top
	}
	corresponding := filepath.Join(top, rel)
	if info, err := os.Stat(corresponding); err != nil || !info.IsDir() {
		return top
	}
	return corresponding
}
