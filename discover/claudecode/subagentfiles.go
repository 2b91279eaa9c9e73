package claudecode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// subagentDir returns the folder of the sub-agents of the session with this transcript. Claude Code itself reads it and the
// folders below, at any depth (2.1.329). Those of a workflow are in workflows/<run> (2.1.197).
func subagentDir(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, transcriptSuffix), subagentsName)
}

// enclosingSubagentDir returns the sub-agents' folder of a session that a path is, or is in; "" if it is in none.
func enclosingSubagentDir(path string) string {
	if !strings.Contains(path, "/"+subagentsName) { // nearly all paths
		return ""
	}
	for len(path) > 1 {
		above := filepath.Dir(path)
		if filepath.Base(path) == subagentsName && isUUID(filepath.Base(above)) {
			return path
		}
		path = above
	}
	return ""
}

// parentOf returns the session whose sub-agents' folder a transcript is in, "" if it is in none.
func parentOf(transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return ""
	}
	if top := enclosingSubagentDir(transcript); top != "" {
		return filepath.Base(filepath.Dir(top))
	}
	return ""
}

// subagentFiles are the files in and below a folder of sub-agents, and all these folders. The folder may be missing.
// Folders that cannot be read are empty; failed is the last of them.
type subagentFiles struct {
	files, folders []string
	failed         string
	err            error
}

// listSubagentFiles lists what is stored of the sub-agents of the session with this transcript.
func listSubagentFiles(ctx context.Context, transcript string) subagentFiles {
	a := subagentFiles{folders: []string{subagentDir(transcript)}}
	for i := 0; i < len(a.folders); i++ {
		dir := a.folders[i]
		entries, err := readDir(ctx, dir)
		if err != nil {
			a.failed, a.err = dir, err
		}
		for _, n := range entries {
			if path := filepath.Join(dir, n.Name()); n.IsDir() {
				a.folders = append(a.folders, path)
			} else {
				a.files = append(a.files, path)
			}
		}
	}
	return a
}

// isSubagentTranscript reports whether a file name is that of a sub-agent's transcript.
func isSubagentTranscript(name string) bool {
	return isSubagent(name) && strings.HasSuffix(name, transcriptSuffix)
}

// modTime returns when a file was written last; zero if it cannot be read.
func modTime(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
