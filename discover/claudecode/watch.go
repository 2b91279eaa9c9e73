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
	if beside := strings.TrimSuffix(transcript, transcriptSuffix); isSubagent(s.ID) {
		files = append(files, beside+metaSuffix)
	} else {
		files = append(files, listSubagentFiles(ctx, transcript).folders...) // what cannot be read has no changes
	}
	for _, p := range s.Processes {
		files = append(files, registryPath(s.Home, namespacePID(p)))
	}
	return files
}
