package opencode

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// legacySubAgents finds the sub-agents' sessions that are in JSON files. Only such a file itself names the session's parent, so all files
// of a folder are read, once for all sessions in it.
type legacySubAgents struct {
	folders map[string]map[string][]string // the files of a session's sub-agents, by folder and session
}

// files returns the files of a session's sub-agents. Files that cannot be read are left out: the list of all sessions has their warnings.
func (l *legacySubAgents) files(ctx context.Context, folder, session string) []string {
	if l.folders[folder] == nil {
		if l.folders == nil {
			l.folders = map[string]map[string][]string{}
		}
		byParent := map[string][]string{}
		names, _ := listJSONNames(ctx, folder, sessionPrefix)
		for _, name := range names {
			path := filepath.Join(folder, name+".json")
			if data, err := readLegacyFile(ctx, path); err == nil {
				parent := transcript.ParseLegacyMetadata(data).Parent
				byParent[parent] = append(byParent[parent], path)
			}
		}
		l.folders[folder] = byParent
	}
	return l.folders[folder][session]
}

// addUsage adds the usage of a session's sub-agents, of their sub-agents and so on. If one of them cannot be read, the sum is unknown.
func (l *legacySubAgents) addUsage(ctx context.Context, s *session) {
	var sum transcript.Usage
	seen := []string{s.ID}
	for i := 0; i < len(seen); i++ {
		for _, path := range l.files(ctx, filepath.Dir(s.Path), seen[i]) {
			id := strings.TrimSuffix(filepath.Base(path), ".json")
			if slices.Contains(seen, id) {
				continue // a damaged store may have a cycle
			}
			seen = append(seen, id)
			child, err := readLegacySession(ctx, s.Home, path, discover.ReadOptions{Tokens: true})
			if err != nil {
				s.Tokens, s.Cost = nil, nil
				return
			}
			if child != nil {
				sum.Add(child.usage())
			}
		}
	}
	s.addUsage(sum)
}
