package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agentctl/launch"
	"agentctl/launch/worktree"
)

// CheckDirectory returns an error unless path is a directory, or a link to one.
func CheckDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// WorkDir resolves the directory of --cwd that an agent is to work in.
func WorkDir(verb, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = CheckDirectory(dir)
	}
	if err != nil {
		return "", UsageError(verb, "--cwd: %v", err)
	}
	return dir, nil
}

// OpenRepository opens the repository that contains a directory.
func (f Factory) OpenRepository(ctx context.Context, verb, dir string) (*worktree.Repo, error) {
	if err := CheckDirectory(dir); err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	repo, err := worktree.Open(ctx, launch.Environment{Environ: f.Environ}, dir)
	if errors.Is(err, worktree.ErrNoRepository) {
		return nil, UsageError(verb, "%v", err)
	}
	return repo, err
}
