package opencode

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// legacySubAgents knows the sub-agents' sessions that are in files. Whom one works for stands in its file alone, so that all files of a
// folder are read, once for all sessions in it.
type legacySubAgents struct {
	folders map[string]map[string][]string // by folder and session, the files of its sub-agents
}

// files are the files of a session's sub-agents. What cannot be read is told where it is read for itself.
func (k *legacySubAgents) files(ctx context.Context, folder, session string) []string {
	if k.folders[folder] == nil {
		if k.folders == nil {
			k.folders = map[string]map[string][]string{}
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
		k.folders[folder] = byParent
	}
	return k.folders[folder][session]
}

// addChildren adds the usage of a session's sub-agents, of their sub-agents and so on. If one of them cannot be read, the sum is unknown.
func (k *legacySubAgents) addChildren(ctx context.Context, s *session) {
	var sum transcript.Usage
	seen := []string{s.ID}
	for i := 0; i < len(seen); i++ {
		for _, path := range k.files(ctx, filepath.Dir(s.Path), seen[i]) {
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
