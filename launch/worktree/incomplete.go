package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"agentctl/discover"
	"agentctl/proc"
)

// createStage is how far the creation of a worktree has got.
type createStage uint8

const (
	complete    createStage = iota // git has written all files; it may still be locked
	inProgress                     // a git process is at work
	interrupted                    // git was killed before it had written all files
)

// stage returns how far git has got with a worktree. Git writes the index when all files are there (git 2.39: worktree add ends
// with reset --hard).
func (r *Repo) stage(ctx context.Context, w Worktree) (createStage, error) {
	if !w.Incomplete() {
		return complete, nil
	}
	busy, err := r.gitRunning(ctx)
	if busy || err != nil {
		return inProgress, err
	}
	entry, err := r.adminDir(w.Path)
	if err != nil {
		return interrupted, err
	}
	if !exists(filepath.Join(entry, "index")) {
		return interrupted, nil
	}
	return complete, nil
}

// gitRunning reports whether a git process runs in this repository that may be adding a worktree: git, or its child that writes
// the files. A process whose directory is unknown counts.
func (r *Repo) gitRunning(ctx context.Context) (bool, error) {
	table, err := proc.ReadTable(ctx, false)
	if err != nil {
		return false, err
	}
	dirs, err := r.worktreeDirs()
	if err != nil {
		return false, err
	}
	for p := range table.Candidates(proc.Signs{Name: func(name string) bool { return filepath.Base(name) == "git" }}) {
		args, argsErr := p.Args()
		if !p.Alive() || errors.Is(argsErr, proc.ErrGone) || argsErr == nil && !slices.Contains(args, "worktree") && !slices.Contains(args, "--hard") {
			continue
		}
		dir, dirErr := p.Cwd()
		if errors.Is(dirErr, proc.ErrGone) {
			continue
		}
		if dirErr != nil || slices.ContainsFunc(dirs, func(top string) bool { return discover.Within(dir, top) }) {
			return true, nil
		}
	}
	return false, nil
}

// worktreeDirs returns the directories of the repository and its worktrees, by their files: after it was killed, git may not be
// able to list them.
func (r *Repo) worktreeDirs() ([]string, error) {
	entries, err := r.adminDirs()
	out := []string{r.common}
	if filepath.Base(r.common) == ".git" {
		out = append(out, filepath.Dir(r.common))
	}
	for _, e := range entries {
		if dir := worktreeOf(e); dir != "" {
			out = append(out, dir)
		}
	}
	return out, err
}

// adminDirs returns the directories with the administrative files of the linked worktrees (gitrepository-layout(5)).
func (r *Repo) adminDirs() ([]string, error) {
	list, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, d := range list {
		if d.IsDir() {
			out = append(out, filepath.Join(r.common, "worktrees", d.Name()))
		}
	}
	return out, err
}

// worktreeOf returns the worktree of an entry, "" if the entry does not name one.
func worktreeOf(entry string) string {
	link, err := discover.ReadGitPath(filepath.Join(entry, "gitdir"), "") // relative with worktree.useRelativePaths, git 2.48
	if err != nil {
		return ""
	}
	return filepath.Dir(link)
}

// adminDir returns the directory with the administrative files of the worktree at path.
func (r *Repo) adminDir(path string) (string, error) {
	entries, err := r.adminDirs()
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if worktreeOf(e) == path {
			return e, nil
		}
	}
	return "", &fs.PathError{Op: "find the entry of", Path: path, Err: fs.ErrNotExist}
}

// removeIncomplete removes a worktree that git was killed creating. All its files were written by git.
func (r *Repo) removeIncomplete(ctx context.Context, w Worktree) error {
	if err := r.restoreGitFile(w.Path); err != nil {
		return err
	}
	_, err := r.git(ctx, r.common, "worktree", "remove", "--force", "--force", w.Path)
	return err
}

// restoreGitFile restores the .git of a worktree that git was killed removing. Without it git does not remove the worktree. An empty one
// was left by a call of this function that was killed.
func (r *Repo) restoreGitFile(path string) error {
	link := filepath.Join(path, ".git")
	info, err := os.Lstat(link)
	if !exists(path) || err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		return nil
	}
	entry, err := r.adminDir(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(link, os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("gitdir: " + entry + "\n")
	return errors.Join(err, f.Close())
}
