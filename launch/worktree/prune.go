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

// Prune removes git's entries that lead to no worktree yet, or no more, as they are left when git is killed. Git would
// do so at its next garbage collection, but not with those that it had just begun: they are locked; and one that it has
// begun to write the way to the repository into (commondir) ends every git command in the repository. Git has no command
// for them: `git worktree remove -f -f` refuses one without a HEAD ("is not a .git file"), `git worktree prune` leaves
// locked ones, and `git worktree repair` writes the .git files of all worktrees (SEEN git 2.39). While a git process is at
// work, nothing is done.
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
		return err // it may have just begun
	}
	for _, e := range lost {
		if !isInitializing(e) {
			continue
		}
		if err := removeAdminFiles(e); err != nil {
			return err
		}
	}
	// With never, those that lead to a directory that is gone stay.
	_, err = r.git(ctx, r.common, "worktree", "prune", "--expire=never")
	return err
}

// isIncomplete reports whether an entry leads to no worktree, or git has not written all of it.
func isIncomplete(entry string) bool {
	return worktreeOf(entry) == "" || isInitializing(entry) && (isEmptyFile(entry, "HEAD") || isEmptyFile(entry, "commondir"))
}

// isInitializing reports whether git's lock is on an entry, or has been begun.
func isInitializing(entry string) bool {
	text, err := fsread.ReadFile(filepath.Join(entry, "locked"), gitFileLimit)
	return err == nil && (len(text) == 0 || strings.TrimSpace(string(text)) == initializing)
}

func isEmptyFile(entry, name string) bool {
	info, err := os.Stat(filepath.Join(entry, name))
	return err != nil || info.Size() == 0
}

// removeAdminFiles removes what git writes before it writes a worktree's files (git 2.39, add_worktree): the directory with .git
// in it, and of the entry what keeps git from pruning it. Nothing but that is there.
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

// pointsTo reports whether git has written, or begun to write, the file at link as the way to an entry.
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
