package claudecode

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentctl/discover"
)

// WatchPaths returns the paths that change with a session: its transcript; the project folder, where another session may
// begin; the folders of its sub-agents; a sub-agent's metadata, which records its end; the file of its team; and the registry entries of its
// processes.
func (Adapter) WatchPaths(ctx context.Context, s discover.Session) []string {
	transcript := cmp.Or(s.Path, transcriptPath(s.Home, s.Dir, s.ID))
	files := []string{transcript, filepath.Dir(transcript)}
	if base := strings.TrimSuffix(transcript, transcriptSuffix); isSubagent(s.ID) {
		files = append(files, base+metaSuffix)
	} else {
		files = append(files, listSubagentFiles(ctx, transcript).folders...) // unreadable folders are skipped
	}
	if filepath.IsLocal(s.Team) {
		files = append(files, filepath.Join(s.ProcessHome(), teamsName, s.Team, teamConfig))
	}
	for _, p := range s.Processes {
		files = append(files, registryPath(s.ProcessHome(), namespacePID(p)))
	}
	return files
}
