package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// launcher starts agents, each in a worktree of its own if that is asked for.
type launcher struct {
	Starter
	// request is what each agent is asked.
	request launch.Request
	group   worktree.Group
	// repo is the repository of the worktrees; nil if the agents work in the directory of the request.
	repo *worktree.Repo
}

// chooseWorktrees opens the repository of the worktrees, if there are to be any, and sets the group.
func (l *launcher) chooseWorktrees(ctx context.Context, o *launchOptions) (err error) {
	l.group = worktree.Group{Name: o.group, NameInDir: o.group != "" || o.matrix != ""}
	if !o.isGroup() && o.worktree == "" && o.branch == "" {
		return nil
	}
	l.group.Name = cmp.Or(o.group, worktree.NewGroupID())
	if !discover.IsGroupName(l.group.Name) {
		return UsageError("launch", "--group %q must not contain /, -- or -try-: it becomes part of branches and directories", l.group.Name)
	}
	dir := l.request.Dir
	if o.worktree != "" && o.worktree != currentRepo {
		dir = o.worktree
	}
	l.repo, err = l.OpenRepository(ctx, "launch", dir)
	return err
}

// attempt is a member whose launch is tried, and what became of it.
type attempt struct {
	launch.Member
	// dir is the directory that it works in.
	dir string
	// worktree is the member's own; the zero value if there is none.
	worktree worktree.CreateResult
	launched *Launched // nil: nothing was started
	answer   string
	err      error
}

// place finds the directory for a member, in a new worktree if there are to be any.
func (l *launcher) place(ctx context.Context, m launch.Member) *attempt {
	a := &attempt{Member: m, dir: l.request.Dir}
	if l.repo == nil {
		return a
	}
	a.worktree, a.dir, a.err = l.repo.CreateForMember(ctx, l.group, m, l.request.Dir)
	if errors.Is(a.err, worktree.ErrBadName) || errors.Is(a.err, worktree.ErrNoCommit) && m.Base != "" {
		a.err = UsageError("launch", "%v", a.err)
	}
	return a
}

// start starts a member. If that fails, its worktree is removed, unless the agent goes on there.
func (l *launcher) start(ctx context.Context, a *attempt, proven func(object.Session) error) {
	request := l.request
	request.Model, request.Dir = a.Model, a.dir
	a.launched, a.err = l.Start(ctx, a.Adapter, request, proven)
	_, ended := errors.AsType[*launch.AgentFailedError](a.err)
	if a.err != nil && a.worktree.New && (a.launched == nil || ended) {
		err := l.repo.Remove(context.WithoutCancel(ctx), a.worktree.Worktree, worktree.RemoveOptions{DeleteBranch: a.worktree.NewBranch})
		if _, refused := errors.AsType[*worktree.RefusedError](err); refused { // there is work in it
			l.Warn(fmt.Sprintf("%s was kept: %v", a.worktree.Path, err))
			return
		}
		a.err = errors.Join(a.err, err)
	}
}

// launchGroup launches the members of a group, each in a worktree of its own, or has a host do that. A failure is reported; the other launches continue.
func (l *launcher) launchGroup(ctx context.Context, calls []HostCall, prepare func() ([]launch.Member, error)) error {
	if calls != nil {
		launches, after, err := Collect[object.LaunchResult](ctx, l.Call, calls, nil)
		if err == nil && len(launches) > 0 {
			err = l.printLaunches(launches)
		}
		return cmp.Or(err, after())
	}
	members, err := prepare()
	if err != nil {
		return err
	}
	working, stop := Interruptible(ctx) // until the command ends, so that no signal is missed between two steps
	defer stop()
	endProgress := l.Progress("waiting for the sessions")
	defer endProgress()
	all := convert(members, func(m launch.Member) *attempt { return l.place(working, m) })
	parallel(all, func(a *attempt) { l.start(working, a, nil) })
	endProgress()
	var launched []*Launched
	for _, a := range all {
		if a.launched != nil {
			defer a.launched.Close()
			launched = append(launched, a.launched)
		}
	}
	l.PrintHints(ctx, launched...)
	return l.report(working, all)
}

func (l *launcher) printLaunches(launches []object.LaunchResult) error {
	if l.JSON {
		return render.JSONArray(l.Stdout, launches)
	}
	return render.LaunchTable(l.Stdout, launches, l.Style)
}

// parallel calls do at the same time for all members that have not failed.
func parallel(all []*attempt, do func(*attempt)) {
	var wg sync.WaitGroup
	for _, a := range all {
		if a.err == nil {
			wg.Go(func() { do(a) })
		}
	}
	wg.Wait()
}

// errSome says that some launches of a group, or their turns, failed; each failure was reported.
var errSome = errors.New("some of them failed")

// report prints the launches of a group, waits for them with --wait, and returns an error if one failed.
func (l *launcher) report(ctx context.Context, all []*attempt) error {
	if !l.JSON {
		if err := l.printLaunches(l.objects(all)); err != nil {
			return err
		}
	}
	if l.Wait {
		parallel(all, func(a *attempt) {
			if a.err = a.launched.WaitForEnd(ctx); a.err == nil && l.JSON {
				a.answer = a.launched.ReadAnswer(ctx)
			}
			if !errors.Is(a.err, context.Canceled) {
				a.err = errors.Join(a.err, a.launched.RunOnComplete(ctx, a.err))
			}
		})
	}
	if l.JSON {
		if err := l.printLaunches(l.objects(all)); err != nil {
			return err
		}
	}
	var worst error
	for _, a := range all {
		switch {
		case errors.Is(a.err, context.Canceled): // what continues was reported
			worst = context.Canceled
		case a.err != nil:
			worst = cmp.Or(worst, errSome)
			l.Report.Failure(a.Name + ": " + a.err.Error())
		}
	}
	return worst
}

func (l *launcher) objects(all []*attempt) (out []object.LaunchResult) {
	for _, a := range all {
		o := object.LaunchResult{
			Name: a.Name, Adapter: string(a.Adapter.Name()), Model: a.Model, Group: l.group.Name, Branch: a.worktree.Branch, Answer: a.answer,
		}
		if a.launched != nil {
			o.CWD = a.dir
			if a.launched.Session.ID != "" {
				o.Session = new(object.NewSession(a.launched.Session))
			}
		}
		switch {
		case errors.Is(a.err, context.Canceled):
			o.Error = "interrupted"
		case a.err != nil:
			o.Error = a.err.Error()
		}
		out = append(out, o)
	}
	return out
}
