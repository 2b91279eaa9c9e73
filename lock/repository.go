package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"agentctl/discover"
)

// ErrNoRepository means that a directory lies in no git repository.
var ErrNoRepository = errors.New("not in a git repository")

// Repository is a git repository with all its worktrees. It is known by git's own directory, which they share, so that a
// worktree added later belongs to it. It is for one goroutine.
type Repository struct {
	common   string
	contains answers
}

// RepositoryOf returns the repository that dir lies in: a directory in any of its worktrees, or a bare repository. Errors:
// [ErrNoRepository], those of [Key].
func RepositoryOf(dir string) (*Repository, error) {
	common, err := commonDir(dir)
	if err != nil {
		return nil, err
	}
	return &Repository{common: common, contains: answers{}}, nil
}

// Contains reports whether dir lies in a worktree of this repository. A directory that is gone lies in none.
func (r *Repository) Contains(dir string) bool {
	return r.contains.get(dir, func(dir string) bool {
		common, err := commonDir(dir)
		return err == nil && common == r.common
	})
}

// Dir returns the directory that the repository is known by: that of its main worktree, or the bare repository itself.
func (r *Repository) Dir() string {
	if filepath.Base(r.common) == ".git" {
		return filepath.Dir(r.common)
	}
	return r.common
}

// commonDir is the real path of the directory that all worktrees of a repository share, by git's own files
// (gitrepository-layout(5)): .git, or where the file .git leads; of a linked worktree what its file commondir names.
func commonDir(dir string) (string, error) {
	top, err := Key(dir)
	if err != nil {
		return "", err
	}
	git := filepath.Join(top, ".git")
	switch info, err := os.Stat(git); {
	case err == nil && !info.IsDir():
		if git, err = discover.ReadGitPath(git, "gitdir: "); err != nil {
			return "", err
		}
	case err == nil:
	case isBare(top):
		git = top
	default:
		return "", ErrNoRepository
	}
	common, err := discover.ReadGitPath(filepath.Join(git, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		common, err = git, nil
	}
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(common)
}

// isBare reports whether dir is a repository without a worktree.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
