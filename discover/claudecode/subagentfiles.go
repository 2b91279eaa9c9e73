package claudecode

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
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
	end := strings.LastIndex(path+"/", "/"+subagentsName+"/")
	if end < 0 || !isUUID(filepath.Base(path[:end])) {
		return ""
	}
	return path[:end] + "/" + subagentsName
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

// listSubagentFiles lists what is stored of the sub-agents of the session with this transcript: the files in and below their folder, and
// all these folders. Folders that are missing or cannot be read are empty; the error is a warning about one of these.
func listSubagentFiles(ctx context.Context, transcript string) (files, folders []string, err error) {
	folders = []string{subagentDir(transcript)}
	for i := 0; i < len(folders); i++ {
		entries, wrong := readDir(ctx, folders[i])
		err = cmp.Or(err, warning(folders[i], wrong))
		for _, n := range entries {
			if path := filepath.Join(folders[i], n.Name()); n.IsDir() {
				folders = append(folders, path)
			} else {
				files = append(files, path)
			}
		}
	}
	return files, folders, err
}

// isSubagentTranscript reports whether a file name is that of a sub-agent's transcript.
func isSubagentTranscript(name string) bool {
	return isSubagent(name) && strings.HasSuffix(name, transcriptSuffix)
}

// A background sub-agent outlives the session that started it. When its process changes to another session (/clear,
// /resume), the rest of its conversation is stored in that session's folder, in a file of the same name that begins in the
// middle. /clear puts a copy of the metadata there at once, /resume does not (SEEN 2.1.329).

// otherTranscripts returns the other files of a sub-agent's conversation, newest first; none if it is beside the sessions'
// transcripts.
func otherTranscripts(ctx context.Context, transcript string) (paths []string) {
	top := enclosingSubagentDir(transcript)
	if top == "" {
		return nil
	}
	sessionDir := filepath.Dir(top)
	project, below := filepath.Dir(sessionDir), strings.TrimPrefix(transcript, sessionDir)
	folders, _ := readDir(ctx, project)
	for _, n := range folders {
		path := filepath.Join(project, n.Name(), below)
		if n.IsDir() && isUUID(n.Name()) && n.Name() != filepath.Base(sessionDir) && isFile(path) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(modTime(b).Compare(modTime(a)), cmp.Compare(a, b)) })
	return paths
}

// newestTranscript returns the file that a sub-agent's conversation continues in; for any other session, its only one.
func newestTranscript(ctx context.Context, transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return transcript
	}
	if others := otherTranscripts(ctx, transcript); len(others) > 0 && modTime(others[0]).After(modTime(transcript)) {
		return others[0]
	}
	return transcript
}

// carriedOver returns the newest transcript of a sub-agent that has only metadata in the folder of its process's session
// and has not ended.
func carriedOver(ctx context.Context, transcript string) storedSubagent {
	if a, _ := readMetaFile(ctx, transcript); a.mayBeOpen() {
		if others := otherTranscripts(ctx, transcript); len(others) > 0 {
			return storedSubagent{others[0], a}
		}
	}
	return storedSubagent{}
}

// modTime returns when a file was written last; zero if it cannot be read.
func modTime(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// A workflow is a script that starts sub-agents in the background: <id>/subagents/workflows/<run>/agent-<hex>.jsonl. Their
// metadata does not record their end. When the run ends, for whatever reason, <id>/workflows/<run>.json is written (SEEN
// 2.1.197, 2.1.329). A run may be resumed.
const workflowsName = "workflows"

// workflowRun returns the workflow run that a sub-agent works for, "" if there is none.
func workflowRun(transcript string) string {
	run := filepath.Dir(transcript)
	above := filepath.Dir(run)
	if filepath.Base(above) != workflowsName || filepath.Base(filepath.Dir(above)) != subagentsName {
		return ""
	}
	return filepath.Base(run)
}

// mayBeActive reports whether a sub-agent may still be working, by its metadata or its workflow run.
func mayBeActive(transcript string, a subagentMeta) bool {
	if run := workflowRun(transcript); run != "" {
		session := filepath.Join(filepath.Dir(transcript), "..", "..", "..")
		ended := modTime(filepath.Join(session, workflowsName, run+".json"))
		return !ended.After(modTime(transcript))
	}
	return a.mayBeOpen()
}
