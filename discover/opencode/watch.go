package opencode

import (
	"context"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// WatchPaths returns what changes with a session: its database and that one's write-ahead log, or the newest of its JSON
// files and the folders in which newer ones, and other sessions, are made; and the log that ties it to its process.
func (Adapter) WatchPaths(ctx context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, "log", "opencode.log")}
	switch {
	case strings.HasSuffix(s.Path, ".json"):
		return append(append(files, s.Path, filepath.Dir(s.Path)), legacyWatchPaths(ctx, s)...)
	case s.Path != "":
		return append(files, s.Path, s.Path+"-wal")
	}
	database := filepath.Join(s.Home, "opencode.db")
	f, err := fsread.Open(ctx, database)
	if err == nil {
		_ = f.Close()
	} else if fsread.IsNotExist(err) { // before 1.2
		folders, _ := legacyFolders(ctx, s.Home) // what cannot be listed is seen late
		files = append(append(files, filepath.Join(s.Home, "storage", "session")), folders...)
	}
	return append(files, database, database+"-wal")
}

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return isProgramName(exe) }
