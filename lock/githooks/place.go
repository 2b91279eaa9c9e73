package githooks

import (
	"context"
	"fmt"
	"os"
	"strings"

	"agentctl/lock"
)

// GitRunner asks git about a repository.
type GitRunner interface {
	// Output runs a git command in the repository and returns what it prints.
	Output(ctx context.Context, args ...string) (string, error)
}

// HooksDir is the directory that git takes the hooks of a repository from. All its worktrees share it, unless
// core.hooksPath says otherwise.
type HooksDir struct {
	dir string
	// top is the worktree's top, "" in a bare repository; real path.
	top string
	// notWritable is the reason for which the directory is not ours to write in, "" if it is.
	notWritable string
}

// Open asks git where the hooks are.
func Open(ctx context.Context, git GitRunner) (*HooksDir, error) {
	dir, err := git.Output(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return nil, err
	}
	common, err := git.Output(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	top, err := git.Output(ctx, "rev-parse", "--show-toplevel")
	p := &HooksDir{dir: trimNewline(dir)}
	if err == nil { // a bare repository has none
		p.top = lock.Resolve(trimNewline(top))
	}
	if inside, real := p.inRepository(lock.Resolve(trimNewline(common))); !inside {
		p.notWritable = "git takes the hooks from " + p.dir
		if from, err := git.Output(ctx, "config", "--show-origin", "--get", "core.hooksPath"); err == nil {
			origin, _, _ := strings.Cut(from, "\t")
			p.notWritable += fmt.Sprintf(" (core.hooksPath in %s)", strings.TrimPrefix(origin, "file:"))
		}
		if lock.Within(real, p.top) {
			p.notWritable += ", among the files of the worktree"
		} else {
			p.notWritable += ", outside of the repository"
		}
	}
	if info, err := os.Stat(p.dir); p.notWritable == "" && err == nil && !info.IsDir() {
		p.notWritable = fmt.Sprintf("%s is %s, not a directory", p.dir, fileKind(info.Mode()))
	}
	return p, nil
}

// inRepository reports whether the hooks are in the repository's own directory, where nobody else has them and no commit does,
// and where they really are. A bare repository may have its worktrees in there.
func (p *HooksDir) inRepository(common string) (bool, string) {
	real := lock.Resolve(p.dir)
	return lock.Within(real, common) && !(lock.Within(p.top, common) && lock.Within(real, p.top)), real
}

func trimNewline(out string) string { return strings.TrimSuffix(out, "\n") }
