package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

type cleanOptions struct {
	repo                        string
	groups                      cli.StringSlice
	force, branch, dryRun, json bool
}

func newWorktreeClean(env Env) *cli.Command {
	o := &cleanOptions{}
	return &cli.Command{
		Name:      "clean",
		Aliases:   []string{"rm"},
		Usage:     "remove worktrees that nobody lives in and nothing would be lost with",
		UsageText: "agentctl worktree clean [FLAGS] PATH|BRANCH…",
		ArgsUsage: "WORKTREE…",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "group", Usage: "those of the launch group `G` (may be repeated)", Destination: &o.groups},
			&cli.StringFlag{Name: "repo", Usage: "the repository that `DIR` lies in; otherwise this one", Destination: &o.repo},
			&cli.BoolFlag{Name: "delete-branch", Usage: "delete the branch too", Destination: &o.branch},
			&cli.BoolFlag{Name: "force", Usage: "though changes, commits or submodules would be lost", Destination: &o.force},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args)+len(o.groups.Value()) == 0 {
				return badUsage("worktree clean", "worktree clean needs a worktree's path or branch, or --group")
			}
			return env.worktreeClean(c.Context, args, o)
		},
	}
}

func (env Env) worktreeClean(ctx context.Context, args []string, o *cleanOptions) error {
	s, err := env.settings(true)
	if err != nil {
		return err
	}
	working, done := env.work(ctx, "looking at the worktrees")
	defer done()
	chosen, err := env.condemned(working, args, o)
	if err != nil {
		return err
	}
	var results []render.Cleaned
	var failed []error
	world := env.world(s.Homes)
	for _, c := range chosen {
		err := env.cleanOne(working, world, c, o)
		if err != nil {
			failed = append(failed, err)
		}
		results = append(results, cleanedObject(c, o, err))
	}
	done()
	if err := env.printCleaned(results, o); err != nil {
		return err
	}
	return notCleaned(failed, len(chosen))
}

// cleanOne removes one worktree while nobody can move in.
func (env Env) cleanOne(ctx context.Context, world *discover.World, c condemned, o *cleanOptions) error {
	how := worktree.Removing{Force: o.force, DeleteBranch: o.branch, DryRun: o.dryRun}
	if c.Path == "" {
		return c.repo.DeleteBranch(ctx, c.Branch, how)
	}
	if isThere(c.Path) && !c.Main {
		now, cancel := context.WithCancel(ctx)
		cancel() // it is free, or it is not
		held, err := lock.Hold(now, c.Path)
		if errors.Is(err, lock.ErrHeld) && ctx.Err() == nil {
			how.Reasons = append(how.Reasons, worktree.Reason{Why: worktree.IsHeld, Text: "another process holds it; it may be a launch"})
		} else if err != nil {
			return err
		} else {
			defer func() { _ = held.Release() }() // the directory may be gone
		}
	}
	r, err := world.List(ctx, discover.Select{Children: true})
	if err != nil {
		return err
	}
	if r.Table.Len() == 0 {
		return fmt.Errorf("%s: who lives there cannot be told: %w", c.Path, errors.Join(warningErrors(r.Warnings)...))
	}
	for _, s := range r.Sessions {
		if lives(s, c.Path) {
			how.Reasons = append(how.Reasons, worktree.Reason{Why: worktree.HasSession, Text: fmt.Sprintf("%s lives there (%s)", named(s), s.Status)})
		}
	}
	return c.repo.Remove(ctx, c.Worktree, how)
}

func warningErrors(warnings []*discover.Warning) []error {
	var out []error
	for _, w := range warnings {
		out = append(out, w)
	}
	return out
}

// lives reports whether a session would lose its directory with the one at path: by what it says itself, or by where
// its processes are.
func lives(s discover.Session, path string) bool {
	dirs := []string{s.Dir}
	for _, p := range s.Processes {
		if dir, err := p.Dir(); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		return dir == path || strings.HasPrefix(dir, path+"/")
	})
}

// notCleaned is why the command fails, with what to do about it.
func notCleaned(failed []error, of int) error {
	var refused *worktree.RefusedError
	var hints []string
	var texts []string
	conflict := true
	for _, err := range failed {
		texts = append(texts, err.Error())
		if !errors.As(err, &refused) {
			conflict = false
			continue
		}
		for _, r := range refused.Reasons {
			if hint := cleanHint(r); hint != "" && !slices.Contains(hints, hint) {
				hints = append(hints, hint)
			}
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case !conflict && of == 1:
		return failed[0]
	case !conflict:
		return errors.New(strings.Join(texts, "; "))
	}
	return &conflictError{strings.Join(texts, "; "), strings.Join(hints, "; ")}
}

func cleanHint(r worktree.Reason) string {
	switch {
	case r.Forced():
		return "--force removes it all the same, and what is in it"
	case r.Why == worktree.HasSession:
		return "stop it first: agentctl stop"
	case r.Why == worktree.IsLocked:
		return "git worktree unlock takes the lock away"
	case r.Why == worktree.HasNested:
		return "clean the other one first"
	case r.Why == worktree.IsMaking, r.Why == worktree.IsHeld:
		return "try again when it is done"
	}
	return ""
}
