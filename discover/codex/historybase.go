package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// baseSegment finds the segment that a rollout continues, by its first record.
func (m *messageReader) baseSegment(r *rolloutRecord) segment {
	h := parseHistoryBase(r.Get("history_base").Object())
	if h.ID == "" || h.EndByte <= 0 {
		return segment{}
	}
	path, err := findRollout(m.ctx, m.home, h.ID)
	if err != nil {
		m.warn(m.path, fmt.Errorf("what it goes on from is left out: %w", err))
		return segment{}
	}
	return segment{path: path, endByte: h.EndByte, endOrdinal: h.EndOrdinal}
}

// errNoRollout is the error of a search that found no rollout.
var errNoRollout = errors.New("there is no rollout")

// findRollout finds the rollout whose name ends with this ID, of a thread or of a segment. If it cannot be read, findRollout returns
// its path with the error.
func findRollout(ctx context.Context, home, id string) (string, error) {
	s := homeScan{ctx: ctx, home: home}
	if in, ok := daysOfID(id); ok {
		s.walk(in, func(name rolloutName) bool { return cmp.Or(name.segment, name.id) == id })
	}
	if len(s.found) > 0 {
		return s.found[0].Path, nil
	}
	for _, err := range s.errs {
		if w, ok := errors.AsType[*discover.Warning](err); ok {
			return w.Path, errors.Unwrap(w.Err)
		}
	}
	return "", fmt.Errorf("%w %s", errNoRollout, id)
}

// maxBases is the most rollouts that are read back for what the newest ones do not contain.
const maxBases = 16

// inheritSettings completes the tail of a rollout from the rollouts that it continues. A segment that begins with an edited prompt may
// contain neither the settings of a turn nor a token count.
func inheritSettings(ctx context.Context, t *rolloutTail, home string, h historyBase) error {
	for range maxBases {
		if h.ID == "" || h.EndByte <= 0 || t.Settings != (turnSettings{}) && t.Usage.Context > 0 {
			return nil
		}
		path, err := findRollout(ctx, home, h.ID)
		if err != nil {
			return nil //nolint:nilerr // deleted: the newer rollout has all that is left
		}
		if h, err = inheritFrom(ctx, t, path, h); err != nil {
			return warn(path, err)
		}
	}
	return nil
}

// inheritFrom completes the tail from one rollout, up to the place where it was left. It returns what that rollout continues.
func inheritFrom(ctx context.Context, t *rolloutTail, path string, h historyBase) (historyBase, error) {
	f, g, err := openRollout(ctx, path)
	if fsread.IsNotExist(err) {
		return historyBase{}, nil
	}
	if err != nil {
		return historyBase{}, err
	}
	defer f.Close()
	name, _ := parseRolloutName(filepath.Base(path))
	head, err := readHead(f, name.id, (*rolloutHead).Complete)
	before, failed := readTail(f.Head(g.kept(h.EndByte)), tailLimit, name.id, tailOptions{})
	if err := errors.Join(err, failed); err != nil {
		return historyBase{}, err
	}
	if t.Settings == (turnSettings{}) {
		t.Settings = before.Settings
	}
	t.Usage.Context, t.Usage.Window = cmp.Or(t.Usage.Context, before.Usage.Context), cmp.Or(t.Usage.Window, before.Usage.Window)
	return head.Meta.HistoryBase, nil
}
