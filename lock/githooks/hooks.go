// Package githooks puts agentctl into the git hooks of a repository, and takes it out again. It knows git and shells, and no
// agent.
//
// What is put into a hook is a few lines between two marks, the first of which has a checksum of them: the hook itself
// tells whether it was installed by us and is as it was, and nothing is kept beside it. A hook that is there already goes
// on as before. Where the hooks are not the repository's own (tracked files, another program's, those of all
// repositories), nothing is written, and the lines that the user can add are told.
package githooks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/lock"
)

// Names are the hooks that are installed, in the order of githooks(5).
func Names() []string {
	return []string{"pre-commit", prepareCommitMsg, "pre-rebase", postCheckout, "pre-push"}
}

// prepareCommitMsg is the hook that names the session in a commit's message; all others look who is at work, checkout when it is too
// late to stop git.
const (
	prepareCommitMsg = "prepare-commit-msg"
	postCheckout     = "post-checkout"
)

// State is how a hook stands.
type State string

// The states of a hook.
const (
	// Installed: our lines are in it, as they were written.
	Installed State = "installed"
	// Missing: they are not. There may be a hook of the user's.
	Missing State = "not_installed"
	// Foreign: it is not ours to write; another program makes it, or it is a tracked file.
	Foreign State = "foreign"
	// Manual: it is not ours to write, but somebody has added a line that calls agentctl.
	Manual State = "manual"
	// Modified: there is something of ours in it that is not as it was written.
	Modified State = "modified"
)

// Hook is one hook of a repository.
type Hook struct {
	Name  string
	State State
	// Path is where git looks for it.
	Path string
	// Program is the agentctl that an installed one calls; Merges: it names the session in merges and squashes too.
	Program string
	Merges  bool
	// Original is the hook that was there before, where ours calls it as a program of its own.
	Original string
	// Manager is the program that makes a foreign one, where that is known.
	Manager string
	// Reason is the reason of Foreign, Manual and Modified, and what is wrong with Installed, for people; Advice is what a person
	// can do, in one line.
	Reason, Advice string
	// Changed: this call has changed it.
	Changed bool
}

// InstallOptions is what is to be installed.
type InstallOptions struct {
	// Program is the absolute path of agentctl.
	Program string
	// Merges: name the session in the messages of merges and squashes too.
	Merges bool
}

// RefusedError: nothing was done, because of these hooks.
type RefusedError struct{ Hooks []Hook }

func (e *RefusedError) Error() string {
	return joinUnique(e.Hooks, func(h Hook) string { return h.Reason }, "; ")
}

// Advice is what the user can do about it, a line for each hook.
func (e *RefusedError) Advice() string {
	return joinUnique(e.Hooks, func(h Hook) string { return h.Advice }, "\n")
}

// joinUnique are the texts of the hooks, each once.
func joinUnique(list []Hook, text func(Hook) string, between string) string {
	var out []string
	for _, h := range list {
		if t := text(h); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, between)
}

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
	common, err := git.Output(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	p := &HooksDir{}
	if top, err := git.Output(ctx, "rev-parse", "--show-toplevel"); err == nil { // a bare repository has none
		p.top = lock.Resolve(trimNewline(top))
	}
	if p.dir, err = hooksDir(ctx, git, cmp.Or(p.top, trimNewline(common))); err != nil {
		return nil, err
	}
	if inside, real := p.inRepository(lock.Resolve(trimNewline(common))); !inside {
		p.notWritable = "git takes the hooks from " + p.dir
		if from, err := git.Output(ctx, "config", "--show-origin", "--get", "core.hooksPath"); err == nil {
			origin, _, _ := strings.Cut(from, "\t")
			p.notWritable += fmt.Sprintf(" (core.hooksPath in %s)", strings.TrimPrefix(origin, "file:"))
		}
		if discover.Within(real, p.top) {
			p.notWritable += ", among the files of the worktree"
		} else {
			p.notWritable += ", outside of the repository"
		}
	}
	if info, err := os.Stat(p.dir); p.notWritable == "" && err == nil && !info.IsDir() {
		p.notWritable = p.dir + " is not a directory"
	}
	return p, nil
}

// hooksDir returns the absolute path of the directory that git takes the hooks from. A relative core.hooksPath begins at the top of each
// worktree, or in a bare repository. If it leads through a file, as .git/hooks does in a linked worktree, git prints no absolute path (SEEN
// git 2.39).
func hooksDir(ctx context.Context, git GitRunner, top string) (string, error) {
	dir, err := git.Output(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err == nil {
		return trimNewline(dir), nil
	}
	configured, notSet := git.Output(ctx, "config", "--type=path", "--get", "core.hooksPath")
	switch configured = trimNewline(configured); {
	case notSet != nil:
		return "", err
	case filepath.IsAbs(configured):
		return configured, nil
	}
	return filepath.Join(top, configured), nil
}

// inRepository reports whether the hooks are in the repository's own directory, where nobody else has them and no commit does,
// and where they really are. A bare repository may have its worktrees in there.
func (p *HooksDir) inRepository(common string) (bool, string) {
	real := lock.Resolve(p.dir)
	return discover.Within(real, common) && !(discover.Within(p.top, common) && discover.Within(real, p.top)), real
}

func trimNewline(out string) string { return strings.TrimSuffix(out, "\n") }
