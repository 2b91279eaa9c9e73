package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agentctl/proc"
)

// Held reports whether somebody holds the place ([Hold]). To find out it shares the lock for a moment, which makes who
// wants to hold it try again.
func (p *Place) Held() (bool, error) {
	f, err := os.Open(p.Top)
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

// Holding is a process that holds a directory: it has it open, with an exclusive lock. Several processes may share one
// lock, if they inherited it.
type Holding struct {
	Dir     string
	Process proc.Process
}

// Holders returns the processes that hold directories, as far as the kernel tells (Linux, own processes; all of them
// for root).
func Holders(table *proc.Table) []Holding {
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
				out = append(out, Holding{f.Path, p})
			}
		}
	}
	return out
}

// isDir reports whether an open file's name is a directory's.
func isDir(path string) bool {
	if !filepath.IsAbs(path) {
		return false // a socket or a pipe
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeDir
}
