package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

type cleanOptions struct {
	cmdutil.CommonFlags
	repo                  string
	groups                cli.StringSlice
	force, branch, dryRun bool
}

func newClean(f cmdutil.Factory) *cli.Command {
	o := &cleanOptions{}
	return &cli.Command{
		Name:      "clean",
		Aliases:   []string{"rm"},
		Usage:     "remove unused worktrees with nothing to lose",
		UsageText: "agentctl worktree clean [FLAGS] PATH|BRANCH…\nagentctl worktree clean [FLAGS] --group G",
		ArgsUsage: "WORKTREE…",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "group", Usage: "the worktrees of the launch group `G` (may be repeated)", Destination: &o.groups},
			&cli.StringFlag{Name: "repo", Usage: "the repository that contains `DIR` (default: the current one)", Destination: &o.repo},
			&cli.BoolFlag{Name: "delete-branch", Usage: "delete the branch too", Destination: &o.branch},
			&cli.BoolFlag{Name: "force", Usage: "remove it even if changes, commits or submodules would be lost", Destination: &o.force},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			cmdutil.JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl worktree clean ../api-fix-login", "agentctl worktree clean --group parser --delete-branch"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args)+len(o.groups.Value()) == 0 {
				return cmdutil.UsageError("worktree clean", "worktree clean needs a worktree's path or branch, or --group")
			}
			return runClean(c.Context, f, args, o)
		},
	}
}

func runClean(ctx context.Context, f cmdutil.Factory, args []string, o *cleanOptions) error {
	c, err := f.NewCall("worktree clean", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	working, done := f.StartWork(ctx, "looking at the worktrees")
	defer done()
	chosen, err := findRemovals(working, f, args, o)
	if err != nil {
		return err
	}
	var results []output.CleanResult
	var failed []error
	cleaning := &cleaner{c, o, nil}
	for _, w := range chosen {
		err := cleaning.clean(working, w)
		if err != nil {
			failed = append(failed, err)
		}
		results = append(results, cleanedObject(w, o, err))
	}
	done()
	if err := printCleaned(f, results, o); err != nil {
		return err
	}
	if err := cleanError(failed, len(chosen)); err != nil {
		return err
	}
	return cleaning.partial
}

// cleaner is one run of worktree clean.
type cleaner struct {
	*cmdutil.Call
	*cleanOptions
	partial error // of what could not be read
}

// clean removes one worktree while it holds the kernel lock on it.
func (cl *cleaner) clean(ctx context.Context, c removal) error {
	how := worktree.RemoveOptions{Force: cl.force, DeleteBranch: cl.branch && !c.keepBranch, DryRun: cl.dryRun}
	if c.Path == "" {
		return c.repo.DeleteBranch(ctx, c.Branch, how)
	}
	if _, err := os.Lstat(c.Path); err == nil && !c.Main {
		now, cancel := context.WithCancel(ctx)
		cancel() // it is free, or it is not
		held, err := lock.FlockWorkspace(now, c.Path)
		switch {
		case err == nil:
			defer held.Release()
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, lock.ErrFlocked):
			how.Reasons = append(how.Reasons, worktree.Reason{Code: worktree.ReasonFlock, Text: "another process holds it; it may be a launch"})
		default:
			return err
		}
	}
	others, err := cl.reasonsToKeep(ctx, c.Path)
	if err != nil {
		return fmt.Errorf("%s: whether it is in use is not known: %w", c.Path, err)
	}
	how.Reasons = append(how.Reasons, others...)
	return c.repo.Remove(ctx, c.Worktree, how)
}

// reasonsToKeep returns why the directory at path is in use: live sessions and declared locks.
func (cl *cleaner) reasonsToKeep(ctx context.Context, path string) ([]worktree.Reason, error) {
	activity, err := lock.ReadActivity(ctx, cl.Scanner, cl.Getenv, cl.Now)
	if err != nil {
		return nil, err
	}
	cl.partial = cmp.Or(cl.ReportWarnings(activity.Warnings), cl.partial)
	if activity.Table.Len() == 0 { // then all sessions look as if they were stopped
		return nil, activity.Warnings[0]
	}
	var out []worktree.Reason
	for _, s := range activity.SessionsBelow(path) {
		out = append(out, worktree.Reason{Code: worktree.ReasonSession, Text: fmt.Sprintf("in use by %s (%s)", cmdutil.DescribeSession(s), s.Status)})
	}
	workspace, err := lock.WorkspaceOf(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && workspace.Top != path {
		return out, nil // it is gone, or no worktree any more
	}
	if err != nil {
		return nil, err
	}
	declared, err := lock.StoreFromEnv(cl.Getenv).ForWorkspace(workspace, cl.Now())
	for _, d := range declared {
		out = append(out, worktree.Reason{Code: worktree.ReasonDeclared, Text: cmdutil.DescribeLock(lock.Lock{Kind: lock.KindDeclared, Dir: "it", Declared: &d})})
	}
	return out, err
}

// cleanError joins the errors of the worktrees that were not removed, with hints.
func cleanError(failed []error, of int) error {
	var hints, texts []string
	refusals := true
	for _, err := range failed {
		texts = append(texts, err.Error())
		refused, ok := errors.AsType[*worktree.RefusedError](err)
		if !ok {
			refusals = false
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
	case !refusals && of == 1:
		return failed[0]
	case !refusals:
		return errors.New(strings.Join(texts, "; "))
	}
	return cmdutil.ConflictError(strings.Join(texts, "; "), strings.Join(hints, "; "))
}

func cleanHint(r worktree.Reason) string {
	switch {
	case r.ForceOverrides():
		return "--force removes it all the same, and what is in it"
	case r.Code == worktree.ReasonSession:
		return "stop it first: agentctl stop"
	case r.Code == worktree.ReasonDeclared:
		return "agentctl unlock takes the lock back"
	case r.Code == worktree.ReasonLocked:
		return "git worktree unlock takes the lock away"
	case r.Code == worktree.ReasonNested:
		return "clean the other one first"
	case r.Code == worktree.ReasonCreating, r.Code == worktree.ReasonFlock:
		return "try again when it is done"
	}
	return ""
}
