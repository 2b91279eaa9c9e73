package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch/worktree"
)

// listWide lists with what each session does on the machine. Token counts are read for it, whatever that takes.
func (c *call) listWide(ctx context.Context, sel discover.SessionFilter, o *listOptions) error {
	sel.Tokens, sel.Full = true, true
	working, done := c.query(ctx, "reading the agents' stores")
	r, err := c.world.List(working, sel)
	var machines []output.Resources
	var unanswered []*discover.Warning
	if err == nil {
		if !o.json {
			output.SortWaitingFirst(r.Sessions)
		}
		machines, unanswered = c.machines(working, c.world, r)
		err = working.Err()
	}
	done()
	if err != nil {
		return err
	}
	if o.json {
		objects := make([]output.Session, len(r.Sessions))
		for i, s := range r.Sessions {
			objects[i] = output.NewSessionWithResources(s, machines[i])
		}
		err = output.JSONArray(c.Stdout, objects)
	} else {
		err = c.printTable(ctx, len(r.Sessions), o, func(b *bytes.Buffer) error { return output.WideSessionTable(b, r.Sessions, machines, c.look) })
	}
	if err != nil {
		return err
	}
	return c.warn(append(r.Warnings, unanswered...))
}

// atOnce is how many git commands run at the same time.
const atOnce = 4

// machines looks at what each session of r does. Sessions may work in one directory: git is asked once, and where it does
// not answer there is one warning.
func (env Env) machines(ctx context.Context, w *discover.Scanner, r discover.Result) ([]output.Resources, []*discover.Warning) {
	type answer struct {
		changes *output.Changes
		err     error
		told    bool
	}
	answers := map[string]*answer{}
	var git sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, s := range r.Sessions {
		// A repository's configuration names programs that git runs: none of a place that only others' homes name.
		if s.Dir == "" || answers[s.Dir] != nil || s.Trust != discover.TrustOurs {
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
	out := make([]output.Resources, len(r.Sessions))
	forest := w.ProcessTrees(r, r.Sessions)
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
		out[i].ChangesError = "not known: " + a.err.Error()
		if !a.told && !errors.Is(a.err, worktree.ErrFilterProgram) { // not to ask is our own choice
			unanswered = append(unanswered, &discover.Warning{Path: s.Dir, Err: fmt.Errorf("what is not committed is not known: %w", a.err)})
		}
		a.told = true
	}
	return out, unanswered
}
