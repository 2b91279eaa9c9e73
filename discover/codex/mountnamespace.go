package codex

import (
	"os"
	"path/filepath"

	"agentctl/discover"
	"agentctl/proc"
)

// locateInMountNamespace is locate for a process with a mount namespace of its own, in which a path names another file than here. A
// stored session of the thread's ID is the thread only if the process has that session's rollout open, or the thread's lock in the
// same home, by device and inode. If there is such a session and it is another file, known is false: no claim may name it.
// Otherwise the claim names a home below the process's root.
func (c *claimBuilder) locateInMountNamespace(s agentProcess, claim *discover.Claim, t threadFiles) (e discover.Entry, stored, known bool) {
	known = true
	for _, h := range c.homes.List() {
		found, _ := c.adapter.Entries(c.ctx, []discover.Home{h}, discover.EntryFilter{Refs: []discover.Ref{{ID: t.id}}})
		lock := t.lock != nil && sameFile(filepath.Join(h.Dir, locksDir, filepath.Base(t.lock.Path)), t.lock)
		for _, e := range found {
			if lock || t.rollout != nil && sameFile(e.Path, t.rollout) {
				claim.Home, claim.Path = h.Dir, e.Path
				return e, true, true
			}
			known = false
		}
	}
	claim.Home = s.PathInRoot("")
	for _, f := range []*proc.OpenFile{t.rollout, t.lock} {
		if f != nil && f.PathDiffers {
			claim.Home = s.PathInRoot(homeOfPath(f.Path))
			break
		}
	}
	return discover.Entry{}, false, known
}

// sameFile reports whether a path here is the very file that a process has open. It opens nothing.
func sameFile(path string, f *proc.OpenFile) bool {
	ours, err := os.Stat(path)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(f.Proc)
	return err == nil && os.SameFile(ours, theirs)
}
