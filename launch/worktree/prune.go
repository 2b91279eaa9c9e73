package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/native/fsread"
)

// Prune removes the administrative entries of incomplete and missing worktrees, which git leaves when it is killed. Git's
// garbage collection removes such entries later, but not those that git had just begun, which are locked. One with a
// half-written commondir makes every git command in the repository fail. No git command removes them: `git worktree remove -f
// -f` refuses an entry without a HEAD ("is not a .git file"), `git worktree prune` leaves locked ones, and `git worktree repair`
// writes the .git files of all worktrees (SEEN git 2.39). While a git process runs in the repository, Prune does nothing.
func (r *Repo) Prune(ctx context.Context) error {
	held, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	return r.prune(ctx)
}

func (r *Repo) prune(ctx context.Context) error {
	entries, err := r.adminDirs()
	lost := slices.DeleteFunc(entries, func(e string) bool { return !isIncomplete(e) })
	if err != nil || len(lost) == 0 {
		return err
	}
	if busy, err := r.gitRunning(ctx); busy || err != nil {
		return err // git may have just begun it
	}
	for _, e := range lost {
		if !isInitializing(e) {
			continue
		}
		if err := removeAdminFiles(e); err != nil {
			return err
		}
	}
	// With never, entries of directories that are gone stay.
	_, err = r.git(ctx, r.common, "worktree", "prune", "--expire=never")
	return err
}

// isIncomplete reports whether an entry has no worktree, or git has not finished writing it.
func isIncomplete(entry string) bool {
	return worktreeOf(entry) == "" || isInitializing(entry) && (isEmptyFile(entry, "HEAD") || isEmptyFile(entry, "commondir"))
}

// isInitializing reports whether an entry has git's lock of a new worktree, or a part of it.
func isInitializing(entry string) bool {
	text, err := fsread.ReadFile(filepath.Join(entry, "locked"), gitFileLimit)
	return err == nil && (len(text) == 0 || strings.TrimSpace(string(text)) == initializing)
}

func isEmptyFile(entry, name string) bool {
	info, err := os.Stat(filepath.Join(entry, name))
	return err != nil || info.Size() == 0
}

// removeAdminFiles removes what git writes before the files of a worktree (git 2.39, add_worktree): the directory with its .git,
// and the files of the entry that keep git from pruning it. There are no other files yet.
func removeAdminFiles(entry string) error {
	var names []string
	if dir := worktreeOf(entry); dir != "" {
		if pointsTo(filepath.Join(dir, ".git"), entry) {
			names = append(names, filepath.Join(dir, ".git"))
		}
		if len(names) > 0 || isEmptyDir(dir) {
			names = append(names, dir)
		}
	}
	if isEmptyFile(entry, "commondir") {
		names = append(names, filepath.Join(entry, "commondir"))
	}
	for _, name := range append(names, filepath.Join(entry, "gitdir"), filepath.Join(entry, "locked")) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// pointsTo reports whether the file at link names an entry, or begins to.
func pointsTo(link, entry string) bool {
	info, err := os.Lstat(link)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := fsread.ReadFile(link, gitFileLimit)
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\n"), "gitdir: ")
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(link), to)
	}
	return err == nil && (len(text) == 0 || ok && to == entry)
}
