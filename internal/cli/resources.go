package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/object"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// maxCommands bounds the commands of git and of multiplexers that run at the same time.
const maxCommands = 4

// SessionsWithResources returns the objects of the sessions of r, each with its processes, the uncommitted changes in its directory, and
// where its pane is. git runs once per directory, and a failure is reported once. A multiplexer that does not answer is no failure: what the
// processes show counts then.
func (f Factory) SessionsWithResources(ctx context.Context, w *discover.Scanner, r discover.Result) ([]object.Session, []*discover.Warning) {
	type answer struct {
		changes *object.Changes
		err     error
		told    bool
	}
	answers := map[string]*answer{}
	var commands sync.WaitGroup
	room := make(chan struct{}, maxCommands)
	for _, s := range r.Sessions {
		// A repository's configuration names programs that git runs: none of a place that only others' homes name.
		if s.Dir == "" || answers[s.Dir] != nil || s.Trust != discover.TrustOurs {
			continue
		}
		a := &answer{}
		answers[s.Dir] = a
		commands.Go(func() {
			room <- struct{}{}
			a.changes, a.err = f.Changes(ctx, s.Dir)
			<-room
		})
	}
	out := SessionObjects(r.Sessions)
	guide := f.Guide(w)
	for i, s := range r.Sessions {
		if pane := s.Pane(); pane != nil && s.Trust == discover.TrustOurs {
			commands.Go(func() {
				room <- struct{}{}
				if found, located := locate(ctx, guide, *pane); located {
					out[i].Terminal = object.NewTerminal(found)
				}
				<-room
			})
		}
	}
	forest := ancestry.NewTrees(w, r, r.Sessions)
	for i, s := range r.Sessions {
		out[i].Processes = Processes(forest.Tree(s))
	}
	commands.Wait()
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

// gitTimeout bounds how long git may take to report uncommitted changes.
const gitTimeout = 2 * time.Second

// Changes asks git for the uncommitted changes in a directory, with two processes; nil outside a repository. The
// directory is one of a session whose home is trusted: the configuration of its repository names programs that git runs.
func (f Factory) Changes(ctx context.Context, dir string) (*object.Changes, error) {
	limited, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	found, err := worktree.ReadChanges(limited, launch.Environment{Environ: f.Environ}, dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("git takes longer than %v", gitTimeout)
	case err != nil || found == nil:
		return nil, err
	}
	c := &object.Changes{Changed: found.Changed, Untracked: found.Untracked, Upstream: found.Upstream}
	if found.AheadBehindKnown {
		c.Ahead, c.Behind = &found.Ahead, &found.Behind
	}
	return c, nil
}
