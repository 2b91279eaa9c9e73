package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// ErrFlocked says that another process holds the directory.
var ErrFlocked = errors.New("another process holds the directory")

// Flock is a kernel lock on a directory (flock(2)). The kernel frees it when the last process that holds it closes it or ends,
// in whatever way.
type Flock struct{ dir *os.File }

// FlockWorkspace takes the lock of the workspace that contains dir. The lock is on the top directory itself: no file is
// written. While another process has it, FlockWorkspace waits until ctx ends, and then fails with [ErrFlocked]. The error is an
// [fs.PathError] if the directory cannot be opened.
func FlockWorkspace(ctx context.Context, dir string) (*Flock, error) {
	key, err := Key(dir)
	if err != nil {
		return nil, err
	}
	return FlockDir(ctx, key)
}

// FlockDir opens a directory and takes its exclusive lock. It is [FlockWorkspace] for any directory.
func FlockDir(ctx context.Context, dir string) (*Flock, error) {
	f, err := storage.OpenDirFile(dir)
	if err != nil {
		return nil, err
	}
	if err := flock(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return &Flock{f}, nil
}

// flock takes the exclusive lock of an open directory, or fails with [ErrFlocked] when ctx ends. It polls, since waiting in the
// kernel cannot be cancelled.
func flock(ctx context.Context, dir *os.File) error {
	const pause = 10 * time.Millisecond
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking %s: %w", dir.Name(), err)
		}
		select {
		case <-ctx.Done():
			return ErrFlocked
		case <-time.After(pause):
		}
	}
}

// File returns the open directory, for a process that is to inherit the lock.
func (h *Flock) File() *os.File { return h.dir }

// Release frees the lock. Of nil it does nothing.
func (h *Flock) Release() {
	if h != nil {
		h.dir.Close()
	}
}

// FlockTimeout is how long to wait for the lock of a workspace: a launch or a check holds it for a moment only.
const FlockTimeout = time.Second

// changeTimeout is how long other processes may take to change a directory: each needs milliseconds, unless the disk is slow.
const changeTimeout = 10 * time.Second

// FlockForUpdate takes the exclusive lock of a directory whose files several processes change one after the other, by [WriteFile], and removes
// the drafts of those that were killed. It waits until ctx ends, whose error it returns, and for ten seconds at most: then the error names the
// directory.
func FlockForUpdate(ctx context.Context, dir string) (*Flock, error) {
	held, err := flockDirTimeout(ctx, dir, changeTimeout)
	if err != nil {
		return nil, err
	}
	if err := removeDrafts(dir); err != nil {
		held.Release()
		return nil, err
	}
	return held, nil
}

func flockDirTimeout(ctx context.Context, dir string, timeout time.Duration) (*Flock, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	held, err := FlockDir(limited, dir)
	switch {
	case !errors.Is(err, ErrFlocked):
		return held, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("locking %s: another process has had it locked for %v (see lsof %[1]s); end that process and try again", dir, timeout)
}

// A draft is a file that is being written.
const (
	draftPrefix = ".agentctl-draft-"
	draftExt    = ".new"
)

// WriteFile writes a file in a directory that is locked ([FlockForUpdate]): all of it or nothing, whenever this process is killed. A mode of 0
// is what the umask leaves of 0777. place puts the draft in the place of the file: [os.Rename], or [os.Link], which replaces no file.
func WriteFile(path, text string, mode fs.FileMode, place func(draft, path string) error) error {
	draft := filepath.Join(filepath.Dir(path), draftPrefix+filepath.Base(path)+draftExt)
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(mode.Perm(), 0o777))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft) }() // it is gone after a rename
	_, err = f.WriteString(text)
	if mode != 0 {
		err = errors.Join(err, f.Chmod(mode))
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return place(draft, path)
}

// removeDrafts removes the drafts in a directory that is locked, so that nobody is writing one.
func removeDrafts(dir string) error {
	folder, err := storage.OpenDirFile(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, draftPrefix) {
			continue
		}
		if bad := os.Remove(filepath.Join(dir, name)); !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}

// isFlocked reports whether a process holds the workspace ([FlockWorkspace]). The check shares the lock for a moment; a process
// that takes the lock at that moment tries again.
func (w *Workspace) isFlocked() (bool, error) {
	f, err := storage.OpenDirFile(w.Top)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// isFlockedDir reports whether a lock is on the top of the workspace, by whatever name.
func (w *Workspace) isFlockedDir(l Lock) bool {
	return w.info != nil && os.SameFile(w.info, l.info)
}

// flockedDirs returns the kernel locks on directories, as far as the kernel shows them (Linux: those of our own processes; for root, of
// all).
func flockedDirs(table *proc.Table) []Lock {
	var out []Lock
	for p := range table.All() {
		if !p.Alive() {
			continue
		}
		match := isDir
		if shared, err := p.SharesRoot(); err == nil && !shared {
			match = filepath.IsAbs // its paths mean something else here
		}
		files, err := p.OpenFiles(match)
		if err != nil {
			continue // another user's process, or it has ended
		}
		for _, f := range files {
			if f.WriteLocked || f.ReadLocked {
				out = addHolder(out, f, p)
			}
		}
	}
	for _, l := range out {
		slices.SortStableFunc(l.Holders, func(a, b proc.Process) int { return a.Started.Compare(b.Started) })
	}
	return out
}

// addHolder adds a process that has a directory locked.
func addHolder(list []Lock, f proc.OpenFile, p proc.Process) []Lock {
	info, err := os.Stat(cmp.Or(f.Proc, f.Path))
	if err != nil || !info.IsDir() {
		return list // it was closed, or is no directory
	}
	i := slices.IndexFunc(list, func(l Lock) bool { return l.Shared == !f.WriteLocked && os.SameFile(l.info, info) })
	if i < 0 {
		i, list = len(list), append(list, Lock{Kind: KindFlock, Dir: p.PathInRoot(f.Path), Shared: !f.WriteLocked, info: info})
	}
	if !f.PathDiffers {
		list[i].Dir = f.Path
	}
	if !slices.ContainsFunc(list[i].Holders, func(q proc.Process) bool { return q.ID == p.ID }) {
		list[i].Holders = append(list[i].Holders, p)
	}
	return list
}

// isDir reports whether an open file's name is a directory's.
func isDir(path string) bool {
	if !filepath.IsAbs(path) {
		return false // a socket or a pipe
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeDir
}
