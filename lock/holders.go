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

// Held reports whether somebody holds the place ([Hold]). To find out it shares the lock for a moment, which makes who
// wants to hold it try again.
func (p *Place) Held() (bool, error) {
	f, err := fsread.Dir(p.Top)
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

// Holding is a directory that is held, with the processes that hold it, the eldest first: they have it open, with an
// exclusive lock, which all but the first of them have inherited.
type Holding struct {
	Dir       string
	Processes []proc.Process
}

// Holdings returns the directories that are held, as far as the kernel tells (Linux, own processes; all of them for root).
func Holdings(table *proc.Table) []Holding {
	var out []Holding
	for p := range table.All() {
		if !p.Alive() {
			continue
		}
		files, err := p.Fresh().OpenFiles(isDir) // a lock may have come and gone since others looked
		if err != nil {
			continue // another user's, or gone
		}
		for _, f := range files {
			if f.WriteLocked {
				out = hold(out, f.Path, p)
			}
		}
	}
	for _, h := range out {
		slices.SortStableFunc(h.Processes, func(a, b proc.Process) int { return a.Started.Compare(b.Started) })
	}
	return out
}

// hold adds a process that holds a directory.
func hold(list []Holding, dir string, p proc.Process) []Holding {
	i := slices.IndexFunc(list, func(h Holding) bool { return h.Dir == dir })
	if i < 0 {
		return append(list, Holding{dir, []proc.Process{p}})
	}
	list[i].Processes = append(list[i].Processes, p)
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
