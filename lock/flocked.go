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

// IsFlocked reports whether somebody holds the place ([FlockWorkspace]). To find out it shares the lock for a moment, which makes who
// wants to hold it try again.
func (p *Workspace) IsFlocked() (bool, error) {
	f, err := fsread.OpenDirFile(p.Top)
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

// FlockedDir is a directory with a lock of the kernel's on it (flock(2)), and the processes that have it open with that lock,
// the eldest first: all but the first of them have inherited it.
type FlockedDir struct {
	// Dir is a path of the directory; behind the process's root where we have no path of it.
	Dir string
	// Shared: several processes can have such a lock at once. It hinders only who wants to hold the directory alone.
	Shared    bool
	Processes []proc.Process

	info os.FileInfo
}

// IsFlockedDir reports whether it is the place's top directory that is held, by whatever name.
func (p *Workspace) IsFlockedDir(h FlockedDir) bool {
	return p.info != nil && os.SameFile(p.info, h.info)
}

// FlockedDirs returns the directories that are held, as far as the kernel tells (Linux, own processes; all of them for root).
func FlockedDirs(table *proc.Table) []FlockedDir {
	var out []FlockedDir
	for p := range table.All() {
		if !p.Alive() {
			continue
		}
		match := isDir
		if shared, err := p.SharesRoot(); err == nil && !shared {
			match = filepath.IsAbs // its paths say nothing about what is there
		}
		files, err := p.Uncached().OpenFiles(match) // a lock may have come and gone since others looked
		if err != nil {
			continue // another user's, or gone
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
func addHolder(list []FlockedDir, f proc.OpenFile, p proc.Process) []FlockedDir {
	path := f.Proc
	if path == "" {
		path = f.Path
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return list // it was closed, or is a file
	}
	i := slices.IndexFunc(list, func(h FlockedDir) bool { return h.Shared == !f.WriteLocked && os.SameFile(h.info, info) })
	if i < 0 {
		h := FlockedDir{Dir: f.Path, Shared: !f.WriteLocked, info: info}
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
