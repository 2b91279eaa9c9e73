package claudecode

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// subagentDir is where the sub-agents of the session with this transcript are stored: there, and in folders of it at any
// depth, as Claude Code itself reads them (2.1.329). A workflow's are in workflows/<run> (2.1.197).
func subagentDir(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, transcriptSuffix), subagentsName)
}

// enclosingSubagentDir is the folder of a session's sub-agents that a path is, or lies in; "" where there is none.
func enclosingSubagentDir(path string) string {
	if !strings.Contains(path, "/"+subagentsName) { // as nearly all
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

// parentOf is the session that a sub-agent's transcript lies below, "" where there is none.
func parentOf(transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return ""
	}
	if top := enclosingSubagentDir(transcript); top != "" {
		return filepath.Base(filepath.Dir(top))
	}
	return ""
}

// subagentFiles are the files in a folder of sub-agents and below it, and all folders there, itself included. The folder need not
// exist. Folders that cannot be read are empty; failed is the last of them.
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

// isSubagentTranscript tells a sub-agent's transcript by its file's name.
func isSubagentTranscript(name string) bool {
	return isSubagent(name) && strings.HasSuffix(name, transcriptSuffix)
}

// A sub-agent in the background outlives the session that started it: when its process turns to another one (/clear,
// /resume), what it does from then on is stored in that one's folder, in a file of the same name that begins in the middle of
// the conversation. /clear lays a copy of the note there at once, /resume none (SEEN 2.1.329).

// otherTranscripts are the other files that a sub-agent's conversation stands in, the newest first; none where it lies beside the
// transcripts.
func otherTranscripts(ctx context.Context, transcript string) (paths []string) {
	top := enclosingSubagentDir(transcript)
	if top == "" {
		return nil
	}
	own := filepath.Dir(top)
	project, below := filepath.Dir(own), strings.TrimPrefix(transcript, own)
	folders, _ := readDir(ctx, project)
	for _, n := range folders {
		path := filepath.Join(project, n.Name(), below)
		if n.IsDir() && isUUID(n.Name()) && n.Name() != filepath.Base(own) && isFile(path) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(modTime(b).Compare(modTime(a)), cmp.Compare(a, b)) })
	return paths
}

// newestTranscript is the file that a sub-agent's conversation goes on in; of any other session its own.
func newestTranscript(ctx context.Context, transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return transcript
	}
	if others := otherTranscripts(ctx, transcript); len(others) > 0 && modTime(others[0]).After(modTime(transcript)) {
		return others[0]
	}
	return transcript
}

// carriedOver is a sub-agent that has nothing but its note in the folder of its process's session: where it is stored so far,
// if it has not ended.
func carriedOver(ctx context.Context, transcript string) storedSubagent {
	if a, _ := readMetaFile(ctx, transcript); a.mayBeOpen() {
		if others := otherTranscripts(ctx, transcript); len(others) > 0 {
			return storedSubagent{others[0], a}
		}
	}
	return storedSubagent{}
}

// keepNewestTranscripts leaves of each sub-agent that was found in several sessions' folders of a project the file written last.
func (s *search) keepNewestTranscripts() {
	at := map[string]int{}
	found := s.found[:0]
	for _, e := range s.found {
		i, again := at[e.ID]
		switch {
		case e.Parent == "":
		case !again:
			at[e.ID] = len(found)
		case modified(e).After(modified(found[i])):
			found[i] = e
			continue
		default:
			continue
		}
		found = append(found, e)
	}
	s.found = found
}

// modified is when the entry's file was written last, also where the search did not ask.
func modified(e discover.Entry) time.Time {
	if !e.Updated.IsZero() {
		return e.Updated
	}
	return modTime(e.Path)
}

// modTime is when a file was written last; zero where it cannot be told.
func modTime(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
