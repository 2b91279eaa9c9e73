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

// A sub-agent in the background outlives the session that started it: when its process turns to another one (/clear,
// /resume), what it does from then on is stored in that one's folder, in a file of the same name that begins in the middle of
// the conversation. /clear lays a copy of the note there at once, /resume none (SEEN 2.1.329).

// otherParts are the other files that a sub-agent's conversation stands in, the newest first; none where it lies beside the
// transcripts.
func otherParts(ctx context.Context, transcript string) (paths []string) {
	top := agentsAbove(transcript)
	if top == "" {
		return nil
	}
	own := filepath.Dir(top)
	project, below := filepath.Dir(own), strings.TrimPrefix(transcript, own)
	folders, _ := names(ctx, project)
	for _, n := range folders {
		path := filepath.Join(project, n.Name(), below)
		if n.IsDir() && isUUID(n.Name()) && n.Name() != filepath.Base(own) && exists(path) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(modTime(b).Compare(modTime(a)), cmp.Compare(a, b)) })
	return paths
}

// newestPart is the file that a sub-agent's conversation goes on in; of any other session its own.
func newestPart(ctx context.Context, transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return transcript
	}
	if others := otherParts(ctx, transcript); len(others) > 0 && modTime(others[0]).After(modTime(transcript)) {
		return others[0]
	}
	return transcript
}

// broughtAlong is a sub-agent that has nothing but its note in the folder of its process's session: where it is stored so far,
// if it has not ended.
func broughtAlong(ctx context.Context, transcript string) withNote {
	if a, _ := readNote(ctx, transcript); a.open() {
		if others := otherParts(ctx, transcript); len(others) > 0 {
			return withNote{others[0], a}
		}
	}
	return withNote{}
}

// newestParts leaves of each sub-agent that was found in several sessions' folders of a project the file written last.
func (s *search) newestParts() {
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
