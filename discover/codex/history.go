package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// errOtherThread is the error of a rollout whose first record contradicts its file name. A rollout that begins with an edited prompt
// always belongs to the thread in its name.
var errOtherThread = errors.New("its first record names a thread other than its file name does")

// completeHead completes the head of a rollout that begins with an edited prompt: the time of creation and the first prompt are in the
// thread's first rollout. If that cannot be read, a warning names it, and the prompt of this rollout stays.
func (t *storedThread) completeHead(ctx context.Context, h *rolloutHead, e discover.Entry) error {
	if h.Meta.Found && h.ThreadID() != e.ID {
		return errOtherThread
	}
	var first rolloutHead
	path, err := findRollout(ctx, e.Home, e.ID)
	if err == nil {
		var f *storage.File
		if f, first, err = openSegment(ctx, path, e.ID); err == nil {
			_ = f.Close()
		}
	}
	switch {
	case storage.IsNotExist(err), errors.Is(err, errNoRollout): // deleted: this rollout has all that is left
	case err != nil:
		h.Meta.Created, _ = threadCreated(e.ID)
		t.addWarning(warn(path, fmt.Errorf("the session's first prompt is unknown: %w", storage.WithoutPath(path, err))))
	case first.Meta.Found:
		h.Meta.Created = first.Meta.Created
		h.Prompt, h.Review = first.Prompt, first.Review
	}
	return ctx.Err()
}

// openSegment opens one of a thread's rollouts and reads its beginning. Error: [errOtherThread], or [errNoMeta] if it is none.
func openSegment(ctx context.Context, path, id string) (f *storage.File, h rolloutHead, err error) {
	if f, _, err = openRollout(ctx, path); err != nil {
		return nil, h, err
	}
	if h, err = readHead(f, id, (*rolloutHead).Complete); err == nil && h.Meta.Found && h.ThreadID() != id {
		err = errOtherThread
	}
	if err != nil {
		_ = f.Close()
	}
	return f, h, err
}

// readAlternative reads a thread whose rollout is damaged from another one: its compressed copy or, if it begins with an edited prompt, the
// thread's first rollout. The newest turn and the tokens stay unknown: only the damaged rollout has them.
func (t *storedThread) readAlternative(ctx context.Context, e discover.Entry, damage error) (ok bool, err error) {
	other := discover.Entry{ID: e.ID, Path: strings.TrimSuffix(e.Path, plainExt) + compressedExt, Home: e.Home}
	if segmentOf(e) != "" {
		other.Path, _ = findRollout(ctx, e.Home, e.ID) // if there is none, the damage is reported
	}
	if ok, err := t.readEntry(ctx, other, discover.ReadOptions{}); !ok || err != nil || t.ID != e.ID {
		t.reset(e)
		return false, damage
	}
	t.Path, t.Archived, t.Turn, t.Tokens, t.tokensUnknown = e.Path, isArchived(e.Path), discover.Turn{}, nil, true
	if e.Updated.After(t.Updated) {
		t.Updated = e.Updated
	}
	t.addWarning(damage)
	return true, nil
}

// addWarning adds a warning about one of the thread's rollouts. err may be nil.
func (t *storedThread) addWarning(err error) { t.warnings = errors.Join(t.warnings, err) }

// setDamage sets the warning about damaged records of the thread's rollout.
func (t *storedThread) setDamage(f *storage.File, d storage.Damage) {
	if t.damaged = d.In(f); t.damaged != nil {
		t.damaged = warn(f.Path(), t.damaged)
	}
}

// baseSegment finds the segment that a rollout continues, by its first record.
func (m *messageReader) baseSegment(r *rolloutRecord) segment {
	h := parseHistoryBase(r.Get("history_base").Object())
	if h.ID == "" || h.EndByte <= 0 {
		return segment{}
	}
	path, err := findRollout(m.ctx, m.home, h.ID)
	if err != nil {
		m.warn(m.path, fmt.Errorf("the history that it continues is left out: %w", err))
		return segment{}
	}
	return segment{path: path, endByte: h.EndByte, endOrdinal: h.EndOrdinal}
}

// errNoRollout is the error of a search that found no rollout.
var errNoRollout = errors.New("no rollout of")

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
