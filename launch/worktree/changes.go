package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"agentctl/launch"
	"agentctl/lock"
)

// Changes are the uncommitted changes in a worktree, and how its branch differs from its upstream.
type Changes struct {
	// Changed counts tracked files that differ from the commit. A submodule counts if it is on another commit.
	// Untracked counts files that git neither tracks nor ignores. A directory with only such files counts once.
	Changed, Untracked int
	// Upstream is the upstream of the branch ("origin/main"); "" for none.
	Upstream string
	// Ahead and Behind count the commits that only the branch, or only its upstream, has. They are valid if AheadBehindKnown.
	Ahead, Behind    int
	AheadBehindKnown bool
}

// ErrFilterProgram says that the repository's configuration names programs that git would run to compare files.
var ErrFilterProgram = errors.New("the repository's configuration names a filter program, which is not run")

// ReadChanges asks git for the uncommitted changes in the worktree of dir. It writes and fetches nothing, and runs no program
// that the repository names: fsmonitor and hooks are turned off. If the repository has filters of its own, on which the
// answer depends, the error is [ErrFilterProgram]. The result is nil if dir is in no repository or is gone, or git is missing.
func ReadChanges(ctx context.Context, host launch.Environment, dir string) (*Changes, error) {
	if !inRepository(dir) {
		return nil, nil
	}
	program, err := host.LookPath("git")
	if err != nil {
		return nil, nil
	}
	// No transport is allowed: git would fetch what a partial clone lacks.
	r := &Repo{program: program, dir: dir, environ: append(gitEnviron(host.Environ), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")}
	r.options = []string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull}
	var out string
	if err = r.refuseFilters(ctx); err == nil {
		out, err = r.Output(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
	}
	switch {
	case isNoRepository(err), err != nil && ctx.Err() == nil && !inRepository(dir): // it was removed meanwhile
		return nil, nil
	case err != nil:
		return nil, err
	}
	c := &Changes{}
	c.countFiles(out)
	c.parseBranch(out)
	return c, nil
}

// inRepository reports whether dir is an absolute path of a directory in a worktree.
func inRepository(dir string) bool {
	w, err := lock.WorkspaceOf(dir)
	return err == nil && filepath.IsAbs(dir) && w.IsWorktree()
}

// refuseFilters returns [ErrFilterProgram] if the repository's configuration, not the user's, names filter programs
// (gitattributes(5)), or programs that git-lfs(1) runs.
func (r *Repo) refuseFilters(ctx context.Context) error {
	out, err := r.Output(ctx, "config", "--show-scope", "--name-only", "--get-regexp", `^(filter|lfs\.extension)\..*\.(clean|process)$`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // there are no filters
	}
	for line := range strings.Lines(out) {
		if scope, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); scope == "local" || scope == "worktree" {
			return fmt.Errorf("%w: %s", ErrFilterProgram, name)
		}
	}
	return err
}

// countFiles parses git-status(1), porcelain v2: each line begins with its kind; after a rename (2) comes the former name.
func (c *Changes) countFiles(status string) {
	lines := strings.Split(status, "\x00")
	for i := 0; i < len(lines); i++ {
		kind, _, _ := strings.Cut(lines[i], " ")
		switch kind {
		case "1", "u":
			c.Changed++
		case "2":
			c.Changed++
			i++
		case "?":
			c.Untracked++
		}
	}
}

// parseBranch parses the lines about branches in the header of git-status(1), porcelain v2.
func (c *Changes) parseBranch(status string) {
	for line := range strings.SplitSeq(status, "\x00") {
		header, ok := strings.CutPrefix(line, "# branch.")
		if !ok {
			return
		}
		switch key, value, _ := strings.Cut(header, " "); key {
		case "upstream":
			c.Upstream = value
		case "ab": // "+? -?" if they were not counted
			n, err := fmt.Sscanf(value, "+%d -%d", &c.Ahead, &c.Behind)
			c.AheadBehindKnown = n == 2 && err == nil
		}
	}
}
