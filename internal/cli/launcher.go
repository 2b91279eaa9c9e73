package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"agentctl/discover"
	"agentctl/internal/object"
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
	return l.StartOne(ctx, nil, m.Adapter.Name(), func(ctx context.Context, proven func(object.Session) error) (*Launched, error) {
		if err := l.openRepository(ctx); err != nil {
			return nil, err
		}
		p, err := l.place(ctx, m)
		if err != nil {
			return nil, err
		}
		return l.start(ctx, p, proven)
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
func (l *launcher) start(ctx context.Context, p placed, proven func(object.Session) error) (*Launched, error) {
	request := l.request
	request.Model, request.Dir = p.Model, p.dir
	launched, err := l.Start(ctx, p.Adapter, request, proven)
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

// attempt is a member whose launch was tried.
type attempt struct {
	placed
	launched *Launched // nil: nothing was started
	err      error
}

// result is what became of a member.
type result struct {
	answer string
	err    error
}

// launchGroup launches the members of a group. A failure is reported; the other launches continue.
func (l *launcher) launchGroup(ctx context.Context, members []launch.Member) error {
	working, stop := Interruptible(ctx) // until the command ends, so that no signal is missed between two steps
	defer stop()
	endProgress := l.Progress("waiting for the sessions")
	defer endProgress()
	if err := l.openRepository(working); err != nil {
		return err
	}
	all := make([]attempt, len(members))
	for i, m := range members {
		all[i].placed, all[i].err = l.place(working, m)
	}
	parallel(all, func(i int) { all[i].launched, all[i].err = l.start(working, all[i].placed, nil) })
	endProgress()
	var launched []*Launched
	for _, s := range all {
		if s.launched != nil {
			defer s.launched.Close()
			launched = append(launched, s.launched)
		}
	}
	l.PrintHints(ctx, launched...)
	return l.report(working, all)
}

// parallel runs do at the same time for all members that have not failed.
func parallel(all []attempt, do func(i int)) {
	var wg sync.WaitGroup
	for i, s := range all {
		if s.err == nil {
			wg.Go(func() { do(i) })
		}
	}
	wg.Wait()
}

// errSome says that some launches of a group, or their turns, failed; each failure was reported.
var errSome = errors.New("some of them failed")

// report prints the launches of a group, waits for them with --wait, and returns an error if one failed.
func (l *launcher) report(ctx context.Context, all []attempt) error {
	results := make([]result, len(all))
	for i, s := range all {
		results[i].err = s.err
	}
	if !l.JSON {
		if err := l.printLaunches(l.objects(all, results)); err != nil {
			return err
		}
	}
	if l.Wait {
		parallel(all, func(i int) { results[i] = l.awaitEnd(ctx, all[i].launched) })
	}
	if l.JSON {
		if err := l.printLaunches(l.objects(all, results)); err != nil {
			return err
		}
	}
	var worst error
	for i, r := range results {
		switch {
		case errors.Is(r.err, context.Canceled): // what continues was reported
			worst = context.Canceled
		case r.err != nil:
			worst = cmp.Or(worst, errSome)
			l.Report.Failure(all[i].Name + ": " + r.err.Error())
		}
	}
	return worst
}

// awaitEnd waits for the end of a member's turn.
func (l *launcher) awaitEnd(ctx context.Context, launched *Launched) (r result) {
	if r.err = launched.WaitForEnd(ctx); r.err == nil && l.JSON {
		r.answer = launched.ReadAnswer(ctx)
	}
	if !errors.Is(r.err, context.Canceled) {
		r.err = errors.Join(r.err, launched.RunOnComplete(ctx, r.err))
	}
	return r
}

func (l *launcher) objects(all []attempt, results []result) []object.LaunchResult {
	out := make([]object.LaunchResult, len(all))
	for i, s := range all {
		out[i] = object.LaunchResult{
			Name: s.Name, Adapter: string(s.Adapter.Name()), Model: s.Model, Group: l.group.Name, Branch: s.worktree.Branch, Answer: results[i].answer,
		}
		if s.launched != nil {
			out[i].CWD = s.dir
			if s.launched.Session.ID != "" {
				session := object.NewSession(s.launched.Session)
				out[i].Session = &session
			}
		}
		switch err := results[i].err; {
		case errors.Is(err, context.Canceled):
			out[i].Error = "interrupted"
		case err != nil:
			out[i].Error = err.Error()
		}
	}
	return out
}
