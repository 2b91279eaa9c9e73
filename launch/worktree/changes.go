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
)

// Changes are what is not committed in a worktree, and what its branch and the one it follows do not have in common.
type Changes struct {
	// Changed counts tracked files that differ from the commit; of a submodule, only that it is on another commit.
	// Untracked counts those that git neither tracks nor ignores, a whole directory of them once.
	Changed, Untracked int
	// Upstream is the branch that the worktree's follows ("origin/main"); "" for none.
	Upstream string
	// Ahead and Behind count the commits that only the branch, or only its upstream, has. AheadBehindKnown: they are known.
	Ahead, Behind    int
	AheadBehindKnown bool
}

// ErrFilterProgram: the repository's own configuration names programs that git would run to look at files.
var ErrFilterProgram = errors.New("the repository's configuration names a filter program, which is not run")

// ReadChanges asks git what is not committed in the worktree that dir lies in. Nothing is written, nothing fetched, and no
// program run that the repository itself names: fsmonitor and hooks are turned off, and where it brings filters of its
// own, which the answer would depend on, there is none: [ErrFilterProgram]. It is nil for a directory that is in no repository,
// or not there any more, and where there is no git.
func ReadChanges(ctx context.Context, host launch.Environment, dir string) (*Changes, error) {
	if !inRepository(dir) {
		return nil, nil
	}
	program, err := host.LookPath("git")
	if err != nil {
		return nil, nil
	}
	// No transport is allowed: of a partial clone git would fetch what it lacks.
	r := &Repo{program: program, dir: dir, readOnly: true, environ: append(gitEnviron(host.Environ), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")}
	r.options = []string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull}
	var out string
	if err = r.refuseFilters(ctx); err == nil {
		out, err = r.Output(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
	}
	switch {
	case isNoRepository(err), err != nil && ctx.Err() == nil && !inRepository(dir): // the latter was removed meanwhile
		return nil, nil
	case err != nil:
		return nil, err
	}
	c := &Changes{}
	c.countFiles(out)
	c.parseBranch(out)
	return c, nil
}

// inRepository reports whether dir is there, and it or a directory above has what git finds a worktree by.
func inRepository(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return false
	}
	for {
		git := filepath.Join(dir, ".git") // a file that names it, of a linked worktree and a submodule
		if info, err := os.Stat(git); err == nil && (!info.IsDir() || exists(filepath.Join(git, "HEAD"))) {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// refuseFilters fails if the repository's own configuration, and not the user's, names programs that make what git
// compares out of what is in a file: gitattributes(5), and those that git-lfs(1) runs in turn.
func (r *Repo) refuseFilters(ctx context.Context) error {
	out, err := r.Output(ctx, "config", "--show-scope", "--name-only", "--get-regexp", `^(filter|lfs\.extension)\..*\.(clean|process)$`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // there are none
	}
	for line := range strings.Lines(out) {
		if scope, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); scope == "local" || scope == "worktree" {
			return fmt.Errorf("%w: %s", ErrFilterProgram, name)
		}
	}
	return err
}

// countFiles reads git-status(1), porcelain v2: a letter for the kind of line, and after a rename (2) the former name.
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

// parseBranch reads the header of git-status(1), porcelain v2, as far as the branches go.
func (c *Changes) parseBranch(status string) {
	for line := range strings.SplitSeq(status, "\x00") {
		header, ok := strings.CutPrefix(line, "# branch.")
		if !ok {
			return
		}
		switch key, value, _ := strings.Cut(header, " "); key {
		case "upstream":
			c.Upstream = value
		case "ab": // "+? -?" where they were not counted
			n, err := fmt.Sscanf(value, "+%d -%d", &c.Ahead, &c.Behind)
			c.AheadBehindKnown = n == 2 && err == nil
		}
	}
}
