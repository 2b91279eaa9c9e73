package claudecode

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/native"
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

// agentFolder is a folder of sub-agents.
type agentFolder struct {
	dir     string
	entries []native.Name
}

// agentTree is a folder of sub-agents, which need not exist, and all in it. Those that cannot be read are empty; failed is the
// last of them.
func agentTree(ctx context.Context, top string) (tree []agentFolder, failed string, err error) {
	tree = []agentFolder{{dir: top}}
	for i := 0; i < len(tree); i++ {
		dir := tree[i].dir
		entries, wrong := names(ctx, dir)
		if tree[i].entries = entries; wrong != nil {
			failed, err = dir, wrong
		}
		for _, n := range entries {
			if n.IsDir() {
				tree = append(tree, agentFolder{dir: filepath.Join(dir, n.Name())})
			}
		}
	}
	return tree, failed, err
}

// transcripts are those of sub-agents in the folder.
func (f agentFolder) transcripts() (paths []string) {
	for _, n := range f.entries {
		if isAgentTranscript(n.Name()) {
			paths = append(paths, filepath.Join(f.dir, n.Name()))
		}
	}
	return paths
}

// isAgentTranscript tells a sub-agent's transcript by its file's name.
func isAgentTranscript(name string) bool { return isSubagent(name) && strings.HasSuffix(name, suffix) }

// agentsOf are the transcripts of a session's sub-agents, in order, and whether they are there: of some there is only the note.
func agentsOf(ctx context.Context, transcript string) (paths []string, stored map[string]bool) {
	stored = map[string]bool{}
	tree, _, _ := agentTree(ctx, agentsFolder(transcript)) // what cannot be read tells nothing
	for _, f := range tree {
		for _, n := range f.entries {
			if id, isNote := strings.CutSuffix(n.Name(), aboutSuffix); isNote {
				stored[filepath.Join(f.dir, id+suffix)] = false
			}
		}
		for _, path := range f.transcripts() { // also of those with a note
			stored[path] = true
		}
	}
	return slices.Sorted(maps.Keys(stored)), stored
}
