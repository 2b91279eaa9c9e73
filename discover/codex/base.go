package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/discover/native"
)

// history is where a rollout goes on from, as its first record says: so many bytes of another rollout (0.147 and later).
type history struct {
	id        string // the last id in that rollout's name
	end, next int64  // the number of bytes, and the ordinal of the first record that is no longer meant
}

func parseHistory(o native.Object) history {
	return history{
		id: threadID(o.Get("thread_id")), end: o.Get("end_byte_offset").Int(), next: o.Get("end_ordinal_exclusive").Int(),
	}
}

// baseOf finds what the rollout with this first record goes on from.
func (t *transcript) baseOf(e event) segment {
	h := parseHistory(e.get("history_base").Object())
	if h.id == "" || h.end <= 0 {
		return segment{}
	}
	path, err := findRollout(t.ctx, t.home, h.id)
	if err != nil {
		t.warn(t.path, fmt.Errorf("what it goes on from is left out: %w", err))
		return segment{}
	}
	return segment{path: path, end: h.end, next: h.next}
}

// findRollout finds the rollout whose name ends with an id, of a thread or of a part of one.
func findRollout(ctx context.Context, home, id string) (string, error) {
	packed := ""
	for _, folder := range foldersOf(home, id) {
		names, _ := native.List(ctx, folder) // one that cannot be read has nothing to tell
		for _, n := range names {
			name := n.Name()
			if _, ok := parseRollout(name); !ok {
				continue
			}
			if strings.HasSuffix(name, id+plainExt) {
				return filepath.Join(folder, name), nil
			}
			if strings.HasSuffix(name, id+packedExt) {
				packed = filepath.Join(folder, name)
			}
		}
	}
	if packed == "" {
		return "", errors.New("there is no rollout " + id)
	}
	return packed, nil
}

// foldersOf are the folders that a rollout with this id can be in.
func foldersOf(home, id string) []string {
	list := []string{filepath.Join(home, archiveDir)}
	made, ok := born(id)
	if !ok {
		return list
	}
	for _, days := range [...]int{0, -1, 1} {
		list = append(list, filepath.Join(home, sessionsDir, made.AddDate(0, 0, days).Format(dayLayout)))
	}
	return list
}
