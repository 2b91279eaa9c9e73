package opencode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
)

// WatchPaths implements [discover.PathWatcher]. It returns the log, and the database with its write-ahead log. No supported version writes
// the JSON files of older ones.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, "log", "opencode.log")}
	switch {
	case isLegacyPath(s.Path):
		return append(files, s.Path)
	case s.Path != "":
		return append(files, s.Path, s.Path+"-wal")
	}
	database := filepath.Join(s.Home, "opencode.db")
	return append(files, database, database+"-wal")
}

// MatchesBinary implements [discover.PathWatcher].
func (Adapter) MatchesBinary(exe string) bool { return mayBeProgram(exe) }
