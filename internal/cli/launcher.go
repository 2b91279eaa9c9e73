package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// launcher starts agents, each in a worktree of its own if that is asked for.
type launcher struct {
	Starter
	// request is what each agent is asked.
	request launch.Request
	group   worktree.Group
	// repoDir is in the repository of the worktrees; "" if the agents work in the directory of the request. repo is set by
	// openRepository.
	repoDir string
	repo    *worktree.Repo
}

// chooseWorktrees sets the repository of the worktrees, if there are to be any, and the group.
func (l *launcher) chooseWorktrees(o *launchOptions) error {
	l.group = worktree.Group{Name: o.group, NameInDir: o.group != "" || o.matrix != ""}
	if !o.isGroup() && o.worktree == "" && o.branch == "" {
		return nil
	}
	l.repoDir = l.request.Dir
	if o.worktree != "" && o.worktree != currentRepo {
		l.repoDir = o.worktree
	}
	l.group.Name = cmp.Or(o.group, worktree.NewGroupID())
	if !discover.IsGroupName(l.group.Name) {
		return UsageError("launch", "--group %q must not contain /, -- or -try-: it becomes part of branches and directories", l.group.Name)
	}
	return nil
}

// openRepository opens the repository of the worktrees, if there are to be any.
func (l *launcher) openRepository(ctx context.Context) (err error) {
	if l.repoDir != "" {
		l.repo, err = l.OpenRepository(ctx, "launch", l.repoDir)
	}
	return err
}

func (l *launcher) launchOne(ctx context.Context, m launch.Member) error {
	return l.StartOne(ctx, m.Adapter.Name(), func(ctx context.Context) (*Launched, error) {
		if err := l.openRepository(ctx); err != nil {
			return nil, err
		}
		p, err := l.place(ctx, m)
		if err != nil {
			return nil, err
		}
		return l.start(ctx, p, true)
	})
}

// placed is a member with the directory that it will work in.
type placed struct {
	launch.Member
	dir string
	// worktree is the member's own; the zero value if there is none.
	worktree worktree.CreateResult
}

func (l *launcher) place(ctx context.Context, m launch.Member) (placed, error) {
	p := placed{Member: m, dir: l.request.Dir}
	if l.repo == nil {
		return p, nil
	}
	var err error
	p.worktree, p.dir, err = l.repo.CreateForMember(ctx, l.group, m, l.request.Dir)
	if errors.Is(err, worktree.ErrBadName) || errors.Is(err, worktree.ErrNoCommit) && m.Base != "" {
		err = UsageError("launch", "%v", err)
	}
	return p, err
}

// start starts a member. If that fails, its worktree is removed, unless the agent goes on there.
func (l *launcher) start(ctx context.Context, p placed, alone bool) (*Launched, error) {
	request := l.request
	request.Model, request.Dir = p.Model, p.dir
	launched, err := l.Start(ctx, p.Adapter, request, alone)
	if err != nil && p.worktree.New && !MayRun(launched, err) {
		err = errors.Join(err, l.removeWorktree(context.WithoutCancel(ctx), p.worktree))
	}
	return launched, err
}

// removeWorktree removes the worktree of a launch that failed, unless there is work in it.
func (l *launcher) removeWorktree(ctx context.Context, made worktree.CreateResult) error {
	err := l.repo.Remove(ctx, made.Worktree, worktree.RemoveOptions{DeleteBranch: made.NewBranch})
	if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
		l.Warn(fmt.Sprintf("%s was kept: %v", made.Path, err))
		return nil
	}
	return err
}
