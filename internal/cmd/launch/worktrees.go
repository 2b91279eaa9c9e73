package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/agentrun"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

// launchInWorktrees launches each agent in a worktree of its own, all in one group. A failure is reported and its
// worktree removed; the other launches continue.
func launchInWorktrees(ctx context.Context, f cmdutil.Factory, runs []*agentrun.Run, o *options) error {
	single := len(runs) == 1 && o.matrix == ""
	group := cmp.Or(o.group, worktree.NewGroupID())
	if !discover.IsGroupName(group) {
		return cmdutil.UsageError("launch", "--group %q must not contain /, -- or -try-: it becomes part of branches and directories", group)
	}
	vars, err := agentrun.Variables(o.vars.Value(), group)
	if err != nil {
		return err
	}
	working, stop := cmdutil.Interruptible(ctx) // to the end: no signal is lost between two steps
	defer stop()
	endProgress := f.Progress("waiting for the sessions")
	defer endProgress()
	dir := runs[0].Request.Dir
	if o.worktree != "" && o.worktree != currentRepo {
		dir = o.worktree
	}
	repo, err := f.OpenRepository(working, "launch", dir)
	if err != nil {
		return err
	}
	for _, r := range runs {
		r.Vars = vars
		if r.Err = createWorktree(working, r, repo, group, o); r.Err != nil && single {
			return r.Err
		}
	}
	parallel(runs, func(r *agentrun.Run) {
		r.Err = r.Start(working, single)
		ended := (*launch.AgentFailedError)(nil)
		if r.Err != nil && r.Worktree.New && (r.Child == nil || errors.As(r.Err, &ended)) { // else it goes on there
			r.Err = errors.Join(r.Err, removeWorktree(context.WithoutCancel(working), r, repo))
		}
	})
	endProgress()
	for _, r := range runs {
		if r.Child != nil {
			defer r.Child.Close()
		}
	}
	agentrun.PrintHints(ctx, f, runs...)
	if single {
		return runs[0].Print(working)
	}
	return reportAll(working, f, runs, group)
}

// parallel runs do at the same time for all runs that have not failed.
func parallel(runs []*agentrun.Run, do func(*agentrun.Run)) {
	var wg sync.WaitGroup
	for _, r := range runs {
		if r.Err == nil {
			wg.Go(func() { do(r) })
		}
	}
	wg.Wait()
}

// createWorktree makes the worktree of a run. The agent works in the directory of the worktree that corresponds to the
// current one, if there is one.
func createWorktree(ctx context.Context, r *agentrun.Run, repo *worktree.Repo, group string, o *options) error {
	list, err := repo.List(ctx)
	if err != nil {
		return err
	}
	main := list[0]
	want := worktree.CreateOptions{
		Branch: cmp.Or(o.branch, r.Entry.Branch, worktree.GroupBranch(group, r.Name)),
		Base:   cmp.Or(r.Entry.Base, o.base),
	}
	want.Dir = worktree.DefaultDir(main, want.Branch)
	if (o.group != "" || o.matrix != "") && discover.GroupOfBranch(want.Branch) == "" {
		want.Dir = worktree.GroupDir(main, group, want.Branch)
	}
	r.Worktree, err = repo.Create(ctx, want)
	switch {
	case errors.Is(err, worktree.ErrBadName), errors.Is(err, worktree.ErrNoCommit) && want.Base != "":
		return cmdutil.UsageError("launch", "%v", err)
	case err != nil:
		return err
	}
	r.Request.Dir = correspondingDir(r.Worktree.Path, r.Request.Dir, list)
	return nil
}

// correspondingDir returns the directory in a new worktree that corresponds to one in another worktree; the top if
// there is none.
func correspondingDir(top, dir string, list []worktree.Worktree) string {
	place, err := lock.WorkspaceOf(dir)
	if err != nil {
		return top
	}
	if _, ok := worktree.FindByPath(list, place.Top); !ok {
		return top
	}
	rel, err := filepath.Rel(place.Top, dir)
	if err != nil || cmdutil.CheckDirectory(filepath.Join(top, rel)) != nil {
		return top
	}
	return filepath.Join(top, rel)
}

// removeWorktree removes the worktree of a launch that failed, unless there is work in it.
func removeWorktree(ctx context.Context, r *agentrun.Run, repo *worktree.Repo) error {
	err := repo.Remove(ctx, r.Worktree.Worktree, worktree.RemoveOptions{DeleteBranch: r.Worktree.NewBranch})
	if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
		r.Warn(fmt.Sprintf("%s was kept: %v", r.Worktree.Path, err))
		return nil
	}
	return err
}

// errSome says that some launches of a group, or their turns, failed; each failure was reported.
var errSome = errors.New("some of them failed")

// reportAll prints the launches of a group, waits for them with --wait, and returns an error if one failed.
func reportAll(ctx context.Context, f cmdutil.Factory, runs []*agentrun.Run, group string) error {
	asJSON := runs[0].JSON
	if !asJSON {
		if err := output.LaunchTable(f.Stdout, launchObjects(runs, group), runs[0].Style); err != nil {
			return err
		}
	}
	if runs[0].Wait {
		parallel(runs, func(r *agentrun.Run) {
			if r.Err = r.WaitForEnd(ctx); r.Err == nil && asJSON {
				r.Answer = r.ReadAnswer(ctx)
			}
			if !errors.Is(r.Err, context.Canceled) {
				r.Err = errors.Join(r.Err, r.RunOnComplete(ctx))
			}
		})
	}
	if asJSON {
		if err := output.JSONArray(f.Stdout, launchObjects(runs, group)); err != nil {
			return err
		}
	}
	var worst error
	for _, r := range runs {
		switch {
		case errors.Is(r.Err, context.Canceled): // what continues was reported
			worst = context.Canceled
		case r.Err != nil:
			worst = cmp.Or(worst, errSome)
			f.Report.Failure(r.Name + ": " + r.Err.Error())
		}
	}
	return worst
}

func launchObjects(runs []*agentrun.Run, group string) []output.LaunchResult {
	out := make([]output.LaunchResult, len(runs))
	for i, r := range runs {
		out[i] = output.LaunchResult{Name: r.Name, Adapter: r.Entry.Agent, Model: r.Request.Model, Group: group, Branch: r.Worktree.Branch, Answer: r.Answer}
		if r.Child != nil {
			out[i].CWD = r.Request.Dir
		}
		if r.Session.Record != nil && r.Session.ID != "" {
			session := output.NewSession(r.Session)
			out[i].Session = &session
		}
		switch {
		case errors.Is(r.Err, context.Canceled):
			out[i].Error = "interrupted"
		case r.Err != nil:
			out[i].Error = r.Err.Error()
		}
	}
	return out
}
