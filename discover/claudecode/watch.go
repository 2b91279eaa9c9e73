package claudecode

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentctl/discover"
)

// WatchPaths returns what changes with a session: its transcript, and the folder of it, in which another one begins; that of its
// sub-agents; the note of one, which says that it has ended; the registry entries of its processes; and the history of typed
// commands, by which early versions tell a /clear.
func (Adapter) WatchPaths(ctx context.Context, s discover.Session) []string {
	transcript := cmp.Or(s.Path, transcriptPath(s.Home, s.Dir, s.ID))
	files := []string{transcript, filepath.Dir(transcript), historyPath(s.Home)}
	if beside := strings.TrimSuffix(transcript, suffix); isSubagent(s.ID) {
		files = append(files, beside+aboutSuffix)
	} else {
		files = append(files, agentFilesOf(ctx, transcript).folders...) // what cannot be read has no changes
	}
	for _, p := range s.Processes {
		files = append(files, entryPath(s.Home, innerPID(p)))
	}
	return files
}

// MayRun reports whether a binary can be this agent's.
func (Adapter) MayRun(exe string) bool { return mayBe(exe) }
