package codex

import (
	"context"
	"path/filepath"
	"time"

	"agentctl/discover"
)

// WatchPaths implements [discover.Adapter]. What changes with a thread is its rollout or, before it has one, the directories in which
// the rollout is created. When the process begins another thread, the directory of the locks changes or, in versions without locks,
// today's directory of rollouts.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, locksDir)}
	around := func(t time.Time) { // directories are named by local time; see [daysOfID]
		for day := -1; day <= 1; day++ {
			files = append(files, filepath.Join(s.Home, sessionsDir, t.AddDate(0, 0, day).Format(dayLayout)))
		}
	}
	around(time.Now())
	if s.Path != "" {
		return append(files, s.Path)
	}
	if t, ok := threadCreated(s.ID); ok {
		around(t)
	}
	return files
}

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return mentionsCodex(exe) }
