package codex

import (
	"path/filepath"

	"agentctl/discover"
)

// Watch returns what changes with a thread: its rollout, or while it has none the folders in which that is made; and
// the folder of the locks, in which a process that begins another thread makes its lock.
func (Adapter) Watch(s discover.Session) []string {
	files := []string{filepath.Join(s.Home, locksDir)}
	if s.Path != "" {
		return append(files, s.Path)
	}
	if t, ok := born(s.ID); ok {
		for day := -1; day <= 1; day++ { // see daysOf
			files = append(files, filepath.Join(s.Home, sessionsDir, t.AddDate(0, 0, day).Format(dayLayout)))
		}
	}
	return files
}

// MayRun reports whether a binary can be this agent's.
func (Adapter) MayRun(exe string) bool { return isBinary(exe) }
