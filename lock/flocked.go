package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// isFlocked reports whether a process holds the workspace ([FlockWorkspace]). The check shares the lock for a moment; a process
// that takes the lock at that moment tries again.
func (w *Workspace) isFlocked() (bool, error) {
	f, err := fsread.OpenDirFile(w.Top)
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

// flockedDir is a directory with a kernel lock (flock(2)), and the processes that have it open with that lock, the oldest first.
// All but the first have inherited the lock.
type flockedDir struct {
	// Dir is a path of the directory. If only the process has a path of it, Dir is below the process's root.
	Dir string
	// Shared: several processes can have such a lock at once. It conflicts only with an exclusive lock.
	Shared    bool
	Processes []proc.Process

	info os.FileInfo
}

// isFlockedDir reports whether the directory is the top of the workspace, by whatever name.
func (w *Workspace) isFlockedDir(h flockedDir) bool {
	return w.info != nil && os.SameFile(w.info, h.info)
}

// flockedDirs returns the locked directories, as far as the kernel shows them (Linux: those of our own processes; for root, of all).
func flockedDirs(table *proc.Table) []flockedDir {
	var out []flockedDir
	for p := range table.All() {
		if !p.Alive() {
			continue
		}
		match := isDir
		if shared, err := p.SharesRoot(); err == nil && !shared {
			match = filepath.IsAbs // its paths mean something else here
		}
		files, err := p.Uncached().OpenFiles(match) // locks may have changed since the cached reading
		if err != nil {
			continue // another user's process, or it has ended
		}
		for _, f := range files {
			if f.WriteLocked || f.ReadLocked {
				out = addHolder(out, f, p)
			}
		}
	}
	for _, h := range out {
		slices.SortStableFunc(h.Processes, func(a, b proc.Process) int { return a.Started.Compare(b.Started) })
	}
	return out
}

// addHolder adds a process that has a directory locked.
func addHolder(list []flockedDir, f proc.OpenFile, p proc.Process) []flockedDir {
	path := f.Proc
	if path == "" {
		path = f.Path
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return list // it was closed, or is no directory
	}
	i := slices.IndexFunc(list, func(h flockedDir) bool { return h.Shared == !f.WriteLocked && os.SameFile(h.info, info) })
	if i < 0 {
		h := flockedDir{Dir: f.Path, Shared: !f.WriteLocked, info: info}
		if f.PathDiffers {
			h.Dir = p.PathInRoot(f.Path)
		}
		i, list = len(list), append(list, h)
	}
	if !f.PathDiffers {
		list[i].Dir = f.Path
	}
	if !slices.ContainsFunc(list[i].Processes, func(q proc.Process) bool { return q.ID == p.ID }) {
		list[i].Processes = append(list[i].Processes, p)
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
