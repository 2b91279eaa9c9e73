package claudecode

import (
	"context"
	"path/filepath"
	"strings"
)

// agentsFolder is where the sub-agents of the session with this transcript are stored: there, and in folders of it at any
// depth, as Claude Code itself reads them (2.1.329). A workflow's are in workflows/<run> (2.1.197).
func agentsFolder(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, suffix), subagents)
}

// agentsAbove is the folder of a session's sub-agents that a path is, or lies in; "" where there is none.
func agentsAbove(path string) string {
	if !strings.Contains(path, "/"+subagents) { // as nearly all
		return ""
	}
	for len(path) > 1 {
		above := filepath.Dir(path)
		if filepath.Base(path) == subagents && isUUID(filepath.Base(above)) {
			return path
		}
		path = above
	}
	return ""
}

// parentOf is the session that a sub-agent's transcript lies below, "" where there is none.
func parentOf(transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return ""
	}
	if top := agentsAbove(transcript); top != "" {
		return filepath.Base(filepath.Dir(top))
	}
	return ""
}

// agentFiles are the files in a folder of sub-agents and below it, and all folders there, itself included. The folder need not
// exist. Folders that cannot be read are empty; failed is the last of them.
type agentFiles struct {
	files, folders []string
	failed         string
	err            error
}

// agentFilesOf lists what is stored of the sub-agents of the session with this transcript.
func agentFilesOf(ctx context.Context, transcript string) agentFiles {
	a := agentFiles{folders: []string{agentsFolder(transcript)}}
	for i := 0; i < len(a.folders); i++ {
		dir := a.folders[i]
		entries, err := names(ctx, dir)
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

// isAgentTranscript tells a sub-agent's transcript by its file's name.
func isAgentTranscript(name string) bool { return isSubagent(name) && strings.HasSuffix(name, suffix) }
