package claudecode

import (
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

// sessionAbove is the session whose sub-agents are stored in a folder, "" if nobody's are.
func sessionAbove(dir string) string {
	if !strings.Contains(dir, "/"+subagents) { // as nearly all
		return ""
	}
	for len(dir) > 1 {
		above := filepath.Dir(dir)
		if id := filepath.Base(above); filepath.Base(dir) == subagents && isUUID(id) {
			return id
		}
		dir = above
	}
	return ""
}

// parentOf is the session that a sub-agent's transcript lies below, "" where there is none.
func parentOf(transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return ""
	}
	return sessionAbove(filepath.Dir(transcript))
}

// agentFolder is a folder of sub-agents.
type agentFolder struct {
	dir     string
	entries []native.Name
}

// agentTree is a folder of sub-agents, which need not exist, and all in it. Those that cannot be read are empty; failed is the
// last of them.
func agentTree(top string) (tree []agentFolder, failed string, err error) {
	tree = []agentFolder{{dir: top}}
	for i := 0; i < len(tree); i++ {
		dir := tree[i].dir
		entries, wrong := names(dir)
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
		if isSubagent(n.Name()) && strings.HasSuffix(n.Name(), suffix) {
			paths = append(paths, filepath.Join(f.dir, n.Name()))
		}
	}
	return paths
}

// agentsOf are the transcripts of a session's sub-agents, in order, and whether they are there: of some there is only the note.
func agentsOf(transcript string) (paths []string, stored map[string]bool) {
	stored = map[string]bool{}
	tree, _, _ := agentTree(agentsFolder(transcript)) // what cannot be read tells nothing
	for _, f := range tree {
		for _, n := range f.entries {
			if id, isNote := strings.CutSuffix(n.Name(), aboutSuffix); isNote {
				path := filepath.Join(f.dir, id+suffix)
				stored[path] = stored[path]
			}
		}
		for _, path := range f.transcripts() {
			stored[path] = true
		}
	}
	return slices.Sorted(maps.Keys(stored)), stored
}
