package codex

import (
	"context"
	"path/filepath"
	"time"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
)

// WatchPaths returns what changes with a thread: its rollout, or while it has none the folders in which that is made; and
// where its process begins another thread: the folder of the locks, in which that makes its lock, and today's of the
// rollouts, for the versions without locks.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, locksDir)}
	around := func(t time.Time) { // folders are named by a local time that need not be ours: see daysOf
		for day := -1; day <= 1; day++ {
			files = append(files, filepath.Join(s.Home, sessionsDir, t.AddDate(0, 0, day).Format(dayLayout)))
		}
	}
	around(time.Now())
	if s.Path != "" {
		return append(files, s.Path)
	}
	if t, ok := transcript.ThreadCreated(s.ID); ok {
		around(t)
	}
	return files
}

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return isBinary(exe) }
