package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

// launchApart launches each agent in a worktree of its own, all in one group. What fails is said, one by one, and what
// was made for it taken back; the others go on.
func (env Env) launchApart(ctx context.Context, runs []*agentRun, o *launchOptions) error {
	single := len(runs) == 1 && o.matrix == ""
	group := cmp.Or(o.group, worktree.NewGroupID())
	if !discover.IsGroupName(group) {
		return badUsage("launch", "--group %q must not contain /, -- or -try-: it becomes part of branches and directories", group)
	}
	vars, err := variables(o.vars.Value(), group)
	if err != nil {
		return err
	}
	working, stop := interruptible(ctx) // to the end: no signal is lost between two steps
	defer stop()
	quiet := env.progress("waiting for the sessions")
	defer quiet()
	dir := runs[0].req.Dir
	if o.worktree != "" && o.worktree != here {
		dir = o.worktree
	}
	repo, err := env.repository(working, "launch", dir)
	if err != nil {
		return err
	}
	for _, r := range runs {
		r.vars = vars
		if r.err = r.house(working, repo, group, o); r.err != nil && single {
			return r.err
		}
	}
	together(runs, func(r *agentRun) {
		r.err = r.start(working, single)
		ended := (*launch.AgentFailedError)(nil)
		if r.err != nil && r.made.New && (r.child == nil || errors.As(r.err, &ended)) { // else it goes on there
			r.err = errors.Join(r.err, r.takeBack(context.WithoutCancel(working), repo))
		}
	})
	quiet()
	for _, r := range runs {
		if r.child != nil {
			defer r.child.Close()
		}
	}
	env.hints(ctx, runs...)
	if single {
		return runs[0].report(working)
	}
	return env.reportAll(working, runs, group)
}

// together does something for all that have not failed, at the same time.
func together(runs []*agentRun, do func(*agentRun)) {
	var wg sync.WaitGroup
	for _, r := range runs {
		if r.err == nil {
			wg.Go(func() { do(r) })
		}
	}
	wg.Wait()
}

// house makes the worktree. The agent works where we are: in the same directory below its top, if there is one.
func (r *agentRun) house(ctx context.Context, repo *worktree.Repo, group string, o *launchOptions) error {
	list, err := repo.List(ctx)
	if err != nil {
		return err
	}
	main := list[0]
	want := worktree.CreateOptions{
		Branch: cmp.Or(o.branch, r.entry.Branch, worktree.GroupBranch(group, r.name)),
		Base:   cmp.Or(r.entry.Base, o.base),
	}
	want.Dir = worktree.DefaultDir(main, want.Branch)
	if (o.group != "" || o.matrix != "") && discover.GroupOfBranch(want.Branch) == "" {
		want.Dir = worktree.GroupDir(main, group, want.Branch)
	}
	r.made, err = repo.Create(ctx, want)
	switch {
	case errors.Is(err, worktree.ErrBadName), errors.Is(err, worktree.ErrNoCommit) && want.Base != "":
		return badUsage("launch", "%v", err)
	case err != nil:
		return err
	}
	r.req.Dir = below(r.made.Path, r.req.Dir, list)
	return nil
}

// below is where in a new worktree corresponds to a directory in one of the others; its top, if there is no such place.
func below(top, dir string, list []worktree.Worktree) string {
	place, err := lock.WorkspaceOf(dir)
	if err != nil {
		return top
	}
	if _, ok := worktree.FindByPath(list, place.Top); !ok {
		return top
	}
	rel, err := filepath.Rel(place.Top, dir)
	if err != nil || isDirectory(filepath.Join(top, rel)) != nil {
		return top
	}
	return filepath.Join(top, rel)
}

// takeBack removes what was made for a launch that failed; that there is work in it is a reason to leave it.
func (r *agentRun) takeBack(ctx context.Context, repo *worktree.Repo) error {
	err := repo.Remove(ctx, r.made.Worktree, worktree.RemoveOptions{DeleteBranch: r.made.NewBranch})
	if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
		r.warning(fmt.Sprintf("%s was kept: %v", r.made.Path, err))
		return nil
	}
	return err
}

// errSome: some launches of a group failed, or their turns did; each has said why.
var errSome = errors.New("some of them failed")

// reportAll prints the launches of a group, waits for them if that is asked for, and ends as the worst of them.
func (env Env) reportAll(ctx context.Context, runs []*agentRun, group string) error {
	asJSON := runs[0].json
	if !asJSON {
		if err := output.LaunchTable(env.Stdout, launchObjects(runs, group), runs[0].look); err != nil {
			return err
		}
	}
	if runs[0].wait {
		together(runs, func(r *agentRun) {
			if r.err = r.outcome(ctx); r.err == nil && asJSON {
				r.answer = r.readAnswer(ctx)
			}
			if !errors.Is(r.err, context.Canceled) {
				r.err = errors.Join(r.err, r.completed(ctx))
			}
		})
	}
	if asJSON {
		if err := output.JSONArray(env.Stdout, launchObjects(runs, group)); err != nil {
			return err
		}
	}
	var worst error
	for _, r := range runs {
		switch {
		case errors.Is(r.err, context.Canceled): // what goes on is said
			worst = context.Canceled
		case r.err != nil:
			worst = cmp.Or(worst, errSome)
			env.report.failure(r.name + ": " + r.err.Error())
		}
	}
	return worst
}

func launchObjects(runs []*agentRun, group string) []output.LaunchResult {
	out := make([]output.LaunchResult, len(runs))
	for i, r := range runs {
		out[i] = output.LaunchResult{Name: r.name, Adapter: r.entry.Agent, Model: r.req.Model, Group: group, Branch: r.made.Branch, Answer: r.answer}
		if r.child != nil {
			out[i].CWD = r.req.Dir
		}
		if r.session.Record != nil && r.session.ID != "" {
			session := output.NewSession(r.session)
			out[i].Session = &session
		}
		switch {
		case errors.Is(r.err, context.Canceled):
			out[i].Error = "interrupted"
		case r.err != nil:
			out[i].Error = r.err.Error()
		}
	}
	return out
}
