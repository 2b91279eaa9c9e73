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
	subagents map[string][]string // transcripts of sub-agents (up to 2.0.x), by the session that their first record names
	failed    string              // the path that could not be read; err is the reason
	err       error
}

// listProjects lists the project folders of the entries, each once.
func listProjects(ctx context.Context, entries []discover.Entry) map[string]projectContents {
	all := map[string]projectContents{}
	for _, e := range entries {
		dir := filepath.Dir(e.Path)
		if _, listed := all[dir]; !listed && !isSubagent(e.ID) {
			all[dir] = listProject(ctx, dir)
		}
	}
	return all
}

func listProject(ctx context.Context, dir string) (found projectContents) {
	entries, err := fsread.ReadDir(ctx, dir)
	if fsread.IsNotExist(err) {
		return projectContents{}
	}
	if err != nil {
		return projectContents{failed: dir, err: err}
	}
	found = projectContents{subagents: map[string][]string{}}
	for _, n := range entries {
		if !isSubagentTranscript(n.Name()) {
			continue
		}
		path := filepath.Join(dir, n.Name())
		session, err := firstSession(ctx, path)
		if err != nil && !fsread.IsNotExist(err) {
			return projectContents{failed: path, err: err}
		}
		found.subagents[session] = append(found.subagents[session], path)
	}
	return found
}

// firstSession returns the session that the first record of a transcript names.
func firstSession(ctx context.Context, path string) (id string, err error) {
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return transcript.FirstSession(f)
}
