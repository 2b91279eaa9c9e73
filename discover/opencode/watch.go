package opencode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// WatchPaths implements [discover.PathWatcher]. It returns the log, and the database with its write-ahead log. For a session in JSON files,
// it returns the newest files and the folders in which new files of this and other sessions are made.
func (Adapter) WatchPaths(ctx context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, "log", "opencode.log")}
	switch {
	case isLegacyPath(s.Path):
		return append(append(files, s.Path, filepath.Dir(s.Path)), legacyWatchPaths(ctx, s)...)
	case s.Path != "":
		return append(files, s.Path, s.Path+"-wal")
	}
	database := filepath.Join(s.Home, "opencode.db")
	f, err := fsread.Open(ctx, database)
	if err == nil {
		_ = f.Close()
	} else if fsread.IsNotExist(err) { // before 1.2
		folders, _ := legacyFolders(ctx, s.Home) // a change in a folder that cannot be listed is noticed later
		files = append(append(files, filepath.Join(s.Home, "storage", "session")), folders...)
	}
	return append(files, database, database+"-wal")
}

// MatchesBinary implements [discover.PathWatcher].
func (Adapter) MatchesBinary(exe string) bool { return mayBeProgram(exe) }
