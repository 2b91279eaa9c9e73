package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/discover/quiet"
	"agentctl/internal/object"
	"agentctl/launch"
	"agentctl/launch/stop"
	"agentctl/launch/worktree"
	"agentctl/proc"
)

// maxCommands bounds the commands of git and of multiplexers that run at the same time.
const maxCommands = 4

// SessionsWithResources returns the objects of the sessions of r, each with its processes, the uncommitted changes in its directory, and
// where its pane is. git runs once per directory, and a failure is reported once. A multiplexer that does not answer is no failure: what the
// processes show counts then.
func (env Env) SessionsWithResources(ctx context.Context, w *discover.Scanner, r discover.Result) ([]object.Session, []*discover.Warning) {
	type answer struct {
		changes *object.Changes
		err     error
		told    bool
	}
	answers := map[string]*answer{}
	var commands errgroup.Group
	commands.SetLimit(maxCommands)
	for _, s := range r.Sessions {
		// A repository's configuration names programs that git runs: none of a place that only others' homes name.
		if s.Dir == "" || answers[s.Dir] != nil || s.Trust != discover.TrustOurs {
			continue
		}
		a := &answer{}
		answers[s.Dir] = a
		commands.Go(func() error {
			a.changes, a.err = env.Changes(ctx, s.Dir)
			return nil
		})
	}
	out := SessionObjects(r.Sessions)
	guide := env.Guide(w)
	for i, s := range r.Sessions {
		if pane := s.Pane(); pane != nil && s.Trust == discover.TrustOurs {
			commands.Go(func() error {
				switch found, err := guide.Locate(ctx, *pane); {
				case err == nil:
					out[i].Terminal = object.NewTerminal(&found)
				case errors.Is(err, launch.ErrNoPane):
					out[i].Terminal = nil
				}
				return nil
			})
		}
	}
	forest := ancestry.NewTrees(w, r, r.Sessions)
	for i, s := range r.Sessions {
		out[i].Processes = Processes(forest.Tree(s))
	}
	for i, q := range quiet.Find(ctx, w, r, forest) {
		out[i].Quiet = object.NewQuiet(q, env.Now())
	}
	_ = commands.Wait() // none of them returns an error
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
func (env Env) Changes(ctx context.Context, dir string) (*object.Changes, error) {
	limited, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	found, err := worktree.ReadChanges(limited, launch.Environment{Environ: env.Environ}, dir)
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

// Processes reads what each process of a tree uses. A process that has ended since is left out.
func Processes(tree []ancestry.Node) []object.Process {
	var out []object.Process
	for _, b := range tree {
		p := object.Process{
			PID: b.ID.PID, PPID: b.Parent, Name: b.Name, StartedAt: object.Timestamp(b.Started), Shared: b.Shared,
		}
		args, err := b.Args()
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		p.Command = commandLine(args)
		for _, k := range b.Sessions {
			p.Adapter = string(k.Agent)
			if k.ID != "" {
				p.Sessions = append(p.Sessions, k.ID)
			}
		}
		if len(b.Sessions) == 0 {
			if used, err := b.Usage(); err == nil {
				p.CPU, p.Memory = new(used.CPU.Seconds()), &used.Memory
			}
			if ports, err := b.ListenPorts(); err == nil {
				p.Ports = ports
			}
		}
		out = append(out, p)
	}
	return out
}

// commandLimit bounds a command line that is shown, in characters: one may contain a whole script.
const commandLimit = 200

func commandLine(args []string) string {
	line := []rune(strings.Join(args, " "))
	if len(line) > commandLimit {
		return string(line[:commandLimit-1]) + "…"
	}
	return string(line)
}

// OrphanObjects returns the JSON objects of the orphans that still run.
func OrphanObjects(found []stop.Orphan) []object.Orphan {
	objects := make([]object.Orphan, 0, len(found))
	for _, f := range found {
		for _, p := range Processes([]ancestry.Node{{Process: f.Process}}) {
			o := object.Orphan{Process: p}
			o.Adapter = string(f.Session.Agent)
			if f.Session.ID != "" {
				o.SessionID = &f.Session.ID
			}
			objects = append(objects, o)
		}
	}
	return objects
}
