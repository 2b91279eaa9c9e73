package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch/worktree"
)

// listWide lists with what each session does on the machine. Token counts are read for it, whatever that takes.
func (env Env) listWide(ctx context.Context, sel discover.Select, o *listOptions, s settings) error {
	if o.quiet || o.format != "" {
		return badUsage("list", "--wide is for the table and --json, not for --quiet and --format")
	}
	sel.Tokens, sel.Whole = true, true
	working, done := env.look(ctx, "reading the agents' stores")
	world := env.world(s.Homes)
	r, err := world.List(working, sel)
	var machines []render.Machine
	var unanswered []*discover.Warning
	if err == nil {
		if !o.json {
			render.WaitingFirst(r.Sessions)
		}
		machines, unanswered = env.machines(working, world, r)
		err = working.Err()
	}
	done()
	if err != nil {
		return err
	}
	if err := env.printWide(ctx, r.Sessions, machines, o, s); err != nil {
		return err
	}
	return env.warn(append(r.Warnings, unanswered...))
}

func (env Env) printWide(ctx context.Context, list []discover.Session, machines []render.Machine, o *listOptions, s settings) error {
	if o.json {
		objects := make([]render.Session, len(list))
		for i := range list {
			objects[i] = render.On(list[i], machines[i])
		}
		return render.JSONArray(env.Stdout, objects)
	}
	if len(list) == 0 {
		return env.table(ctx, list, o, s)
	}
	if o.noTrunc {
		s.look.Width = 0
	}
	return env.paged(ctx, o, func(b *bytes.Buffer) error { return render.WideTable(b, list, machines, s.look) })
}

// atOnce is how many git commands run at the same time.
const atOnce = 4

// machines looks at what each session of r does. Sessions may work in one directory: git is asked once, and where it does
// not answer there is one warning.
func (env Env) machines(ctx context.Context, w *discover.World, r discover.Result) ([]render.Machine, []*discover.Warning) {
	type answer struct {
		changes *render.Changes
		err     error
		told    bool
	}
	answers := map[string]*answer{}
	var git sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, s := range r.Sessions {
		// A repository's configuration names programs that git runs: none of a place that only others' homes name.
		if s.Dir == "" || answers[s.Dir] != nil || s.Trust != discover.Ours {
			continue
		}
		a := &answer{}
		answers[s.Dir] = a
		git.Go(func() {
			room <- struct{}{}
			a.changes, a.err = env.changes(ctx, s.Dir)
			<-room
		})
	}
	out := make([]render.Machine, len(r.Sessions))
	forest := w.Forest(r, r.Sessions)
	for i, s := range r.Sessions {
		out[i].Processes = processes(forest.Tree(ctx, s))
	}
	git.Wait()
	var unanswered []*discover.Warning
	for i, s := range r.Sessions {
		a := answers[s.Dir]
		if a == nil {
			continue
		}
		out[i].Changes = a.changes
		if a.err == nil {
			continue
		}
		out[i].Unchecked = "not known: " + a.err.Error()
		if !a.told && !errors.Is(a.err, worktree.ErrPrograms) { // not to ask is our own choice
			unanswered = append(unanswered, &discover.Warning{Path: s.Dir, Err: fmt.Errorf("what is not committed is not known: %w", a.err)})
		}
		a.told = true
	}
	return out, unanswered
}
