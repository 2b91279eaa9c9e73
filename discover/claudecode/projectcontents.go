package claudecode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// projectContents is what a project folder has besides transcripts of sessions.
type projectContents struct {
	folders   map[string]bool     // the names of all folders; a link may lead to one
	subagents map[string][]string // transcripts of sub-agents (up to 2.0.x), by the session that their first record names
	failed    string              // the path that could not be read; err is the reason
	err       error
}

// listProjects lists the project folders of the entries, each once.
func listProjects(ctx context.Context, entries []discover.Entry) map[string]projectContents {
	all := map[string]projectContents{}
	scratch := fsread.NewBuffers(ctx)
	for _, e := range entries {
		dir := filepath.Dir(e.Path)
		if _, listed := all[dir]; !listed && !isSubagent(e.ID) {
			all[dir] = listProject(dir, scratch)
		}
	}
	return all
}

func listProject(dir string, s *fsread.Buffers) (found projectContents) {
	d, err := fsread.OpenDir(s.Context(), dir)
	if fsread.IsNotExist(err) {
		return projectContents{}
	}
	if err != nil {
		return projectContents{failed: dir, err: err}
	}
	defer d.Close()
	found = projectContents{folders: map[string]bool{}, subagents: map[string][]string{}}
	for n, err := range d.AllEntries(s) {
		if err != nil {
			return projectContents{failed: dir, err: err}
		}
		if !n.Type().IsRegular() { // a link may lead to a folder
			found.folders[n.Name()] = true
		}
		if !isSubagentTranscript(n.Name()) {
			continue
		}
		path := filepath.Join(dir, n.Name())
		session, err := firstSession(path, s)
		if err != nil && !fsread.IsNotExist(err) {
			return projectContents{failed: path, err: err}
		}
		found.subagents[session] = append(found.subagents[session], path)
	}
	return found
}

// firstSession returns the session that the first record of a transcript names.
func firstSession(path string, buffers *fsread.Buffers) (id string, err error) {
	f, err := buffers.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return transcript.FirstSession(f)
}
