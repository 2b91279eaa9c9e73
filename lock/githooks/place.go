package githooks

import (
	"context"
	"fmt"
	"os"
	"strings"

	"agentctl/lock"
)

// Git asks git about a repository.
type Git interface {
	// Ask runs a git command in the repository and returns what it prints.
	Ask(ctx context.Context, args ...string) (string, error)
}

// Place is the directory that git takes the hooks of a repository from. All its worktrees share it, unless
// core.hooksPath says otherwise.
type Place struct {
	dir string
	// top is the worktree's top, "" in a bare repository; real path.
	top string
	// why is the reason for which the directory is not ours to write in, "" if it is.
	why string
}

// Find asks git where the hooks are.
func Find(ctx context.Context, git Git) (*Place, error) {
	dir, err := git.Ask(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return nil, err
	}
	common, err := git.Ask(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	top, err := git.Ask(ctx, "rev-parse", "--show-toplevel")
	p := &Place{dir: line(dir)}
	if err == nil { // a bare repository has none
		p.top = lock.Resolve(line(top))
	}
	if inside, real := p.ours(lock.Resolve(line(common))); !inside {
		p.why = "git takes the hooks from " + p.dir
		if from, err := git.Ask(ctx, "config", "--show-origin", "--get", "core.hooksPath"); err == nil {
			origin, _, _ := strings.Cut(from, "\t")
			p.why += fmt.Sprintf(" (core.hooksPath in %s)", strings.TrimPrefix(origin, "file:"))
		}
		if lock.Within(real, p.top) {
			p.why += ", among the files of the worktree"
		} else {
			p.why += ", outside of the repository"
		}
	}
	if info, err := os.Stat(p.dir); p.why == "" && err == nil && !info.IsDir() {
		p.why = fmt.Sprintf("%s is %s, not a directory", p.dir, kind(info.Mode()))
	}
	return p, nil
}

// ours reports whether the hooks are in the repository's own directory, where nobody else has them and no commit does,
// and where they really are. A bare repository may have its worktrees in there.
func (p *Place) ours(common string) (bool, string) {
	real := lock.Resolve(p.dir)
	return lock.Within(real, common) && !(lock.Within(p.top, common) && lock.Within(real, p.top)), real
}

func line(out string) string { return strings.TrimSuffix(out, "\n") }
