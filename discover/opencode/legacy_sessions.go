package opencode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// readLegacySession reads one session of JSON files; nil if it has vanished. Its errors are warnings. The session is read also if there
// are warnings about its messages: a message that cannot be read is left out, and if it is the last one, the turn is unknown.
func readLegacySession(ctx context.Context, home, path string, options discover.ReadOptions) (*session, error) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	data, err := readLegacyFile(ctx, path)
	if err != nil {
		return nil, warningUnlessGone(path, err)
	}
	m := parseLegacyMetadata(data)
	if m.ID != id {
		return nil, newWarning(path, errWrongID)
	}
	messages := newLegacyMessages(ctx, path, id)
	s := newSession(home, path, m, messages, options)
	s.SetMeta("legacy", true)
	return s, errors.Join(messages.errs...)
}

var errWrongID = errors.New("not the session that its name says")

// listJSONNames lists the names of a folder's JSON files that have the prefix, without their extension, sorted: their IDs sort by time.
func listJSONNames(ctx context.Context, dir, prefix string) ([]string, error) {
	entries, err := fsread.ReadDir(ctx, dir)
	if err != nil {
		return nil, warningUnlessGone(dir, err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
