package opencode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
)

// legacySubAgents finds the sub-agents' sessions that are in JSON files. Only such a file itself names the session's parent, so all files
// of a folder are read, once for all sessions in it.
type legacySubAgents struct {
	files map[string]map[string][]string // by folder and parent
}

// of returns the files of a session's sub-agents, of their sub-agents and so on, each once. Files that cannot be read are left out: the list
// of all sessions has their warnings.
func (l *legacySubAgents) of(ctx context.Context, folder, session string) (family []string) {
	if l.files == nil {
		l.files = map[string]map[string][]string{}
	}
	if l.files[folder] == nil {
		l.files[folder] = map[string][]string{}
		names, _ := listJSONNames(ctx, folder, sessionPrefix)
		for _, name := range names {
			if data, err := readLegacyFile(ctx, filepath.Join(folder, name+".json")); err == nil {
				parent := parseLegacyMetadata(data).Parent
				l.files[folder][parent] = append(l.files[folder][parent], name)
			}
		}
	}
	seen := map[string]bool{session: true} // a damaged store may have a cycle
	for next := []string{session}; len(next) > 0; next = next[1:] {
		for _, id := range l.files[folder][next[0]] {
			if !seen[id] {
				seen[id], next, family = true, append(next, id), append(family, id)
			}
		}
	}
	return family
}

// addUsage adds the usage of a session's sub-agents. If one of them cannot be read, the sum is unknown.
func (l *legacySubAgents) addUsage(ctx context.Context, s *session) {
	folder := filepath.Dir(s.Path)
	for _, id := range l.of(ctx, folder, s.ID) {
		child, err := readLegacySession(ctx, s.Home, filepath.Join(folder, id+".json"), discover.ReadOptions{Tokens: true})
		if err != nil {
			s.used, s.contextSize = usage{}, 0
			return
		}
		if child != nil {
			s.used.Add(child.used)
		}
	}
}
