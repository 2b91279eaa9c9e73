package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

// launchApart launches each slot in a worktree of its own, all in one group. What fails is said, slot by slot, and what
// was made for it taken back; the others go on.
func (env Env) launchApart(ctx context.Context, slots []*slot, o *launchOptions) error {
	single := len(slots) == 1 && o.matrix == ""
	group := cmp.Or(o.group, worktree.NewGroup())
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
	dir := slots[0].st.req.Dir
	if o.worktree != "" && o.worktree != here {
		dir = o.worktree
	}
	repo, err := env.repository(working, "launch", dir)
	if err != nil {
		return err
	}
	for _, s := range slots {
		s.st.vars = vars
		if s.err = env.house(working, repo, s, group, o); s.err != nil && single {
			return s.err
		}
	}
	eachSlot(slots, func(s *slot) { env.runSlot(working, repo, s) })
	quiet()
	all := make([]*begun, len(slots))
	for i, s := range slots {
		if all[i] = s.begun; s.begun != nil {
			defer s.begun.child.Close()
		}
	}
	env.hints(ctx, all...)
	if single {
		return env.toldOne(working, slots[0])
	}
	return env.toldAll(working, slots, group)
}

// eachSlot does something for all slots that stand, at the same time.
func eachSlot(slots []*slot, do func(*slot)) {
	var wg sync.WaitGroup
	for _, s := range slots {
		if s.err == nil {
			wg.Go(func() { do(s) })
		}
	}
	wg.Wait()
}

// house makes the slot's worktree. The agent works where we are: in the same directory below its top, if there is one.
func (env Env) house(ctx context.Context, repo *worktree.Repo, s *slot, group string, o *launchOptions) error {
	list, err := repo.List(ctx)
	if err != nil {
		return err
	}
	main := list[0]
	want := worktree.Wanted{
		Branch: cmp.Or(o.branch, s.Branch, worktree.GroupBranch(group, s.name)),
		Base:   cmp.Or(s.Base, o.base),
	}
	want.Dir = worktree.Dir(main, want.Branch)
	if (o.group != "" || o.matrix != "") && discover.GroupOfBranch(want.Branch) == "" {
		want.Dir = worktree.GroupDir(main, group, want.Branch)
	}
	s.made, err = repo.Create(ctx, want)
	switch {
	case errors.Is(err, worktree.ErrBadName), errors.Is(err, worktree.ErrNoCommit) && want.Base != "":
		return badUsage("launch", "%v", err)
	case err != nil:
		return err
	}
	s.st.req.Dir = below(s.made.Path, s.st.req.Dir, list)
	return nil
}

// below is where in a new worktree corresponds to a directory in one of the others; its top, if there is no such place.
func below(top, dir string, list []worktree.Worktree) string {
	place, err := lock.At(dir)
	if err != nil {
		return top
	}
	if _, ok := worktree.At(list, place.Top); !ok {
		return top
	}
	rel, err := filepath.Rel(place.Top, dir)
	if err != nil || isDirectory(filepath.Join(top, rel)) != nil {
		return top
	}
	return filepath.Join(top, rel)
}

// runSlot starts the slot's agent and waits for its proof. If it fails, its worktree is taken back, unless there is work in it.
func (env Env) runSlot(ctx context.Context, repo *worktree.Repo, s *slot) {
	s.begun, s.err = env.begin(ctx, s.st)
	if s.err == nil {
		s.err = env.settle(ctx, s.begun)
	}
	if s.err == nil {
		return
	}
	if s.begun != nil {
		if s.begun.session.ID != "" { // it has changed since its proof
			s.begun.renew(context.WithoutCancel(ctx), discover.Want{Whole: true, Tokens: true})
		}
		s.err = env.unproven(s.begun, s.err)
		if ended := (*launch.EndedError)(nil); !errors.As(s.err, &ended) {
			return // it goes on there
		}
	}
	if s.made.New {
		s.err = errors.Join(s.err, env.takeBack(context.WithoutCancel(ctx), repo, s))
	}
}

// takeBack removes what was made for a launch that failed; that there is work in it is a reason to leave it.
func (env Env) takeBack(ctx context.Context, repo *worktree.Repo, s *slot) error {
	err := repo.Remove(ctx, s.made.Worktree, worktree.Removing{DeleteBranch: s.made.NewBranch})
	if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
		env.say("warning", fmt.Sprintf("%s was kept: %v", s.made.Path, err))
		return nil
	}
	return err
}

// toldOne prints the only slot as any launch is printed.
func (env Env) toldOne(ctx context.Context, s *slot) error {
	if s.begun == nil || s.begun.session.ID == "" {
		return s.err
	}
	if err := env.printProven(s.begun); err != nil {
		return err
	}
	if s.st.wait && !errors.Is(s.err, context.Canceled) {
		return env.waitOut(ctx, s.begun, s.err)
	}
	return s.err
}

// errSlots: some launches of a group failed, or their turns did; each has said why.
var errSlots = errors.New("some of them failed")

// toldAll prints the slots, waits for them if that is asked for, and ends as the worst of them.
func (env Env) toldAll(ctx context.Context, slots []*slot, group string) error {
	wait, asJSON := slots[0].st.wait, slots[0].st.json
	if !asJSON {
		if err := env.printSlots(slots, group, false); err != nil {
			return err
		}
	}
	if wait {
		eachSlot(slots, func(s *slot) {
			if s.err = env.outcome(ctx, s.begun, nil); s.err == nil && asJSON {
				s.answer = s.begun.answer(ctx, env)
			}
			if !errors.Is(s.err, context.Canceled) {
				s.err = errors.Join(s.err, env.completed(ctx, s.begun, s.err))
			}
		})
	}
	if asJSON {
		if err := env.printSlots(slots, group, true); err != nil {
			return err
		}
	}
	failed, interrupted := false, false
	for _, s := range slots {
		switch {
		case errors.Is(s.err, context.Canceled): // what goes on is said
			interrupted = true
		case s.err != nil:
			failed = true
			env.say("error", s.name+": "+s.err.Error())
		}
	}
	switch {
	case interrupted:
		return context.Canceled
	case failed:
		return errSlots
	}
	return nil
}

func (env Env) printSlots(slots []*slot, group string, asJSON bool) error {
	objects := make([]render.Launch, 0, len(slots))
	for _, s := range slots {
		objects = append(objects, slotObject(s, group))
	}
	if asJSON {
		return render.JSONArray(env.Stdout, objects)
	}
	return render.LaunchTable(env.Stdout, objects, slots[0].st.look)
}

func slotObject(s *slot, group string) render.Launch {
	out := render.Launch{Name: s.name, Adapter: s.Agent, Model: s.model, Group: group, Branch: s.made.Branch, Answer: s.answer}
	if s.begun != nil {
		out.CWD = s.st.req.Dir
		if s.begun.session.ID != "" {
			session := render.Of(s.begun.session)
			out.Session = &session
		}
	}
	switch {
	case errors.Is(s.err, context.Canceled):
		out.Error = "interrupted"
	case s.err != nil:
		out.Error = s.err.Error()
	}
	return out
}
