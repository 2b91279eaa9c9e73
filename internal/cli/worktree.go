package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

func worktreeCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "list git worktrees with the sessions in them, and remove unused ones",
		UsageText:          "agentctl worktree list|clean [FLAGS] [ARGUMENTS]",
		CustomHelpTemplate: GroupHelpTemplate("agentctl worktree list", "agentctl worktree clean --group parser --dry-run"),
		Subcommands:        []*cli.Command{worktreeListCommand(env), worktreeCleanCommand(env)},
	}
}

func worktreeListCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Name:               "list",
		Aliases:            []string{"ls"},
		Usage:              "list the worktrees of a repository, with the live sessions in each",
		ArgsUsage:          "[REPO]",
		Flags:              o.objectFlags(),
		CustomHelpTemplate: HelpTemplate("agentctl worktree list", "agentctl worktree list ~/src/api --json"),
		Action: func(c *cli.Context) error {
			args, err := Arguments(c, 0, 1, "")
			if err != nil {
				return err
			}
			return runWorktreeList(c.Context, env, append(args, ".")[0], o)
		},
	}
}

func runWorktreeList(ctx context.Context, env Env, dir string, o *CommonFlags) error {
	c, err := env.NewCall("worktree list", o, object.Worktree{})
	if err != nil {
		return err
	}
	working, done := env.StartWork(ctx, "reading the repository")
	defer done()
	repo, err := env.OpenRepository(working, "worktree list", dir)
	if err != nil {
		return err
	}
	list, err := repo.List(working)
	if err != nil {
		return err
	}
	r, err := c.Scanner.List(working, discover.SessionFilter{Subagents: true})
	if err != nil {
		return err
	}
	done()
	var out []object.Worktree
	for _, w := range list {
		out = append(out, worktreeObject(w, r.Sessions))
	}
	if err := PrintRows(c, out, render.WorktreeTable); err != nil {
		return err
	}
	return env.ReportWarnings(r.Warnings)
}

func worktreeObject(w worktree.Worktree, sessions []discover.Session) object.Worktree {
	out := object.Worktree{
		Path: w.Path, Branch: w.Branch, Head: w.Head, Main: w.Main, Bare: w.Bare, Detached: w.Detached, HalfMade: w.Incomplete(),
		Locked: w.Locked, LockReason: w.LockReason, Prunable: w.Prunable, PruneReason: w.PruneReason,
		Group: discover.GroupOfWorktree(w.Branch, w.Path), Sessions: []object.Session{},
	}
	workspace, err := lock.WorkspaceOf(w.Path)
	if err != nil {
		return out // it is gone, with its sessions
	}
	for _, s := range sessions {
		if workspace.Contains(lock.SessionDir(s)) {
			out.Sessions = append(out.Sessions, object.NewSession(s))
		}
	}
	return out
}

type cleanOptions struct {
	CommonFlags
	repo                  string
	groups                cli.StringSlice
	force, branch, dryRun bool
}

func worktreeCleanCommand(env Env) *cli.Command {
	o := &cleanOptions{}
	return &cli.Command{
		Name:      "clean",
		Aliases:   []string{"rm"},
		Usage:     "remove unused worktrees with nothing to lose",
		UsageText: "agentctl worktree clean [FLAGS] PATH|BRANCH…\nagentctl worktree clean [FLAGS] --group G",
		ArgsUsage: "WORKTREE…",
		Flags: []cli.Flag{
			ListFlag("group", "the worktrees of the launch group `G`", &o.groups),
			&cli.StringFlag{Name: "repo", Usage: "the repository that contains `DIR` (default: the current one)", Destination: &o.repo},
			&cli.BoolFlag{Name: "delete-branch", Usage: "delete the branch too", Destination: &o.branch},
			&cli.BoolFlag{Name: "force", Usage: "remove it even if changes, commits or submodules would be lost", Destination: &o.force},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: HelpTemplate("agentctl worktree clean ../api-fix-login", "agentctl worktree clean --group parser --delete-branch"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args)+len(o.groups.Value()) == 0 {
				return UsageError("worktree clean", "worktree clean needs a worktree's path or branch, or --group")
			}
			return runWorktreeClean(c.Context, env, args, o)
		},
	}
}

func runWorktreeClean(ctx context.Context, env Env, args []string, o *cleanOptions) error {
	c, err := env.NewCall("worktree clean", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	working, done := env.StartWork(ctx, "looking at the worktrees")
	defer done()
	chosen, err := findRemovals(working, env, args, o)
	if err != nil {
		return err
	}
	var results []object.CleanResult
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
	if err := printCleaned(env, results, o); err != nil {
		return err
	}
	return cmp.Or(cleanError(failed, len(chosen)), cleaning.partial)
}

// cleaner is one run of worktree clean.
type cleaner struct {
	*Call
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
		out = append(out, worktree.Reason{Code: worktree.ReasonSession, Text: fmt.Sprintf("in use by %s (%s)", DescribeSession(s), s.Status)})
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
		out = append(out, worktree.Reason{Code: worktree.ReasonDeclared, Text: DescribeLock(lock.Lock{Kind: lock.KindDeclared, Dir: "it", Declared: &d})})
	}
	return out, err
}

// cleanError joins the errors of the worktrees that were not removed, with hints.
func cleanError(failed []error, of int) error {
	hints := map[worktree.ReasonCode]string{
		worktree.ReasonSession:  "stop it first: agentctl stop",
		worktree.ReasonDeclared: "agentctl unlock takes the lock back",
		worktree.ReasonLocked:   "git worktree unlock takes the lock away",
		worktree.ReasonNested:   "clean the other one first",
		worktree.ReasonCreating: "try again when it is done",
		worktree.ReasonFlock:    "try again when it is done",
	}
	var advice, texts []string
	refusals := true
	for _, err := range failed {
		texts = append(texts, err.Error())
		refused, ok := errors.AsType[*worktree.RefusedError](err)
		if !ok {
			refusals = false
			continue
		}
		for _, r := range refused.Reasons {
			hint := hints[r.Code]
			if r.ForceOverrides() {
				hint = "--force removes it anyway, and what is in it"
			}
			if hint != "" && !slices.Contains(advice, hint) {
				advice = append(advice, hint)
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
	return ConflictError(strings.Join(texts, "; "), strings.Join(advice, "; "))
}

// removal is a worktree to remove, or, without a path, a branch that no worktree has checked out.
type removal struct {
	worktree.Worktree
	repo *worktree.Repo
	// keepBranch: the worktree was selected by its group, but its branch's name is not the group's.
	keepBranch bool
}

// findRemovals finds the worktrees that the arguments and the groups name, each once.
func findRemovals(ctx context.Context, env Env, args []string, o *cleanOptions) (out []removal, err error) {
	var all []removal
	for _, arg := range args {
		r, err := findRemoval(ctx, env, arg, o)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for _, group := range o.groups.Value() {
		of, err := findGroup(ctx, env, group, o)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	for _, r := range all {
		if !slices.ContainsFunc(out, func(d removal) bool { return d.Path == r.Path && d.Branch == r.Branch }) {
			out = append(out, r)
		}
	}
	return out, nil
}

func openRepository(ctx context.Context, env Env, dir string) (*worktree.Repo, []worktree.Worktree, error) {
	repo, err := env.OpenRepository(ctx, "worktree clean", dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := repo.List(ctx)
	return repo, list, err
}

// findRemoval finds a worktree by its path or branch. A path names its own repository, unless --repo does. A word that is the path of one
// worktree and the branch of another is refused.
func findRemoval(ctx context.Context, env Env, arg string, o *cleanOptions) (removal, error) {
	var w worktree.Worktree
	var repo *worktree.Repo
	var list []worktree.Worktree
	var err error
	found := false
	if o.repo == "" && CheckDirectory(arg) == nil {
		if repo, list, err = openRepository(ctx, env, arg); err == nil {
			w, found = worktree.FindByPath(list, arg)
		}
	}
	if !found {
		if repo, list, err = openRepository(ctx, env, cmp.Or(o.repo, ".")); err != nil {
			return removal{}, err
		}
		w, found = worktree.FindByPath(list, arg)
	}
	if on, ok := worktree.FindByBranch(list, arg); found && ok && on.Path != w.Path {
		return removal{}, UsageError("worktree clean", "%q is the path of one worktree and the branch of another; use ./%s or refs/heads/%s", arg, arg, arg)
	}
	branch := strings.TrimPrefix(arg, "refs/heads/")
	if !found {
		w, found = worktree.FindByBranch(list, branch)
	}
	if found {
		return removal{Worktree: w, repo: repo}, nil
	}
	if o.branch {
		// Its worktree may be gone already: then the branch is all there is.
		err := repo.DeleteBranch(ctx, branch, worktree.RemoveOptions{DryRun: true, Force: true})
		if err == nil || !errors.Is(err, worktree.ErrNoCommit) {
			return removal{Worktree: worktree.Worktree{Branch: branch}, repo: repo}, err
		}
	}
	return removal{}, fmt.Errorf("%w at %s, or on a branch of that name", worktree.ErrNoWorktree, arg)
}

// findGroup finds the worktrees of a launch group; with --delete-branch also its branches that no worktree has checked
// out.
func findGroup(ctx context.Context, env Env, group string, o *cleanOptions) ([]removal, error) {
	repo, list, err := openRepository(ctx, env, cmp.Or(o.repo, "."))
	if err != nil {
		return nil, err
	}
	var out []removal
	for _, w := range list {
		if discover.GroupOfWorktree(w.Branch, w.Path) == group {
			out = append(out, removal{w, repo, discover.GroupOfBranch(w.Branch) == ""})
		}
	}
	if o.branch {
		branches, err := repo.Branches(ctx, group)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			if _, ok := worktree.FindByBranch(list, b); !ok {
				out = append(out, removal{Worktree: worktree.Worktree{Branch: b}, repo: repo})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w of the group %s", worktree.ErrNoWorktree, group)
	}
	return out, nil
}

func cleanedObject(c removal, o *cleanOptions, err error) object.CleanResult {
	out := object.CleanResult{Path: c.Path, Branch: c.Branch, Result: "removed", Reasons: []object.CleanReason{}}
	refused, ok := errors.AsType[*worktree.RefusedError](err)
	switch {
	case ok:
		out.Result = "refused"
		for _, r := range refused.Reasons {
			out.Reasons = append(out.Reasons, object.CleanReason{Why: string(r.Code), Message: r.Text})
		}
	case err != nil:
		out.Result, out.Message = "failed", err.Error()
	case o.dryRun:
		out.Result = "planned"
	default:
		out.BranchDeleted = o.branch && c.Branch != ""
	}
	return out
}

// printCleaned prints what was removed, or would be. Failures are printed in JSON only; as text they are the command's
// error.
func printCleaned(env Env, results []object.CleanResult, o *cleanOptions) error {
	if o.JSON {
		return render.JSONArray(env.Stdout, results)
	}
	removed, deleted := "removed ", "deleted branch "
	if o.dryRun {
		removed, deleted = "would remove ", "would delete branch "
	}
	var text strings.Builder
	for _, r := range results {
		if r.Result != "removed" && r.Result != "planned" {
			continue
		}
		if r.Path != "" {
			fmt.Fprintln(&text, render.Sanitize(removed+r.Path))
		}
		if o.branch && r.Branch != "" {
			fmt.Fprintln(&text, render.Sanitize(deleted+r.Branch))
		}
	}
	_, err := io.WriteString(env.Stdout, text.String())
	return err
}
