package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

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
	parallel(all, func(i int) { all[i].launched, all[i].err = l.start(working, all[i].placed, false) })
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
		if err := render.LaunchTable(l.Stdout, l.objects(all, results), l.Style); err != nil {
			return err
		}
	}
	if l.Wait {
		parallel(all, func(i int) { results[i] = l.awaitEnd(ctx, all[i].launched) })
	}
	if l.JSON {
		if err := render.JSONArray(l.Stdout, l.objects(all, results)); err != nil {
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
