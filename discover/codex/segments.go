package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// errOtherThread is the error of a rollout whose first record contradicts its file name. A rollout that begins with an edited prompt
// always belongs to the thread in its name.
var errOtherThread = errors.New("its first record names another thread than the file does")

// completeHead completes the head of a rollout that begins with an edited prompt: the time of creation and the first prompt are in the
// thread's first rollout. If that cannot be read, a warning names it, and the prompt of this rollout stays.
func (t *storedThread) completeHead(ctx context.Context, h *rolloutHead, e discover.Entry) error {
	if h.Meta.Found && h.ThreadID() != e.ID {
		return errOtherThread
	}
	var first rolloutHead
	path, err := findRollout(ctx, e.Home, e.ID)
	if err == nil {
		first, err = firstHead(ctx, path, e.ID)
	}
	switch {
	case fsread.IsNotExist(err), errors.Is(err, errNoRollout): // deleted: this rollout has all that is left
	case err != nil:
		h.Meta.Created, _ = threadCreated(e.ID)
		t.addWarning(warn(path, fmt.Errorf("the session's first prompt is left out: %w", fsread.WithoutPath(path, err))))
	case first.Meta.Found:
		h.Meta.Created = first.Meta.Created
		h.Prompt, h.Review = first.Prompt, first.Review
	}
	return ctx.Err()
}

// firstHead reads the beginning of a thread's first rollout.
func firstHead(ctx context.Context, path, id string) (rolloutHead, error) {
	f, err := openHead(ctx, path, headLimit)
	if err != nil {
		return rolloutHead{}, err
	}
	defer f.Close()
	return segmentHead(f, id)
}

// segmentHead reads the beginning of one of a thread's rollouts. Error: [errOtherThread], or errNoMeta if it is none.
func segmentHead(f *fsread.File, id string) (rolloutHead, error) {
	h, err := readHead(f, id, (*rolloutHead).Complete)
	if err == nil && h.Meta.Found && h.ThreadID() != id {
		err = errOtherThread
	}
	return h, err
}

// readAlternative reads a thread whose rollout is damaged from the preferred one of its other rollouts. The newest turn and the tokens
// stay unknown: only the damaged rollout has them.
func (t *storedThread) readAlternative(ctx context.Context, e discover.Entry, damage error) (ok bool, err error) {
	for _, other := range otherRollouts(ctx, e) {
		if ok, err := t.readEntry(ctx, other, discover.ReadOptions{}); !ok || err != nil || t.ID != e.ID {
			continue
		}
		t.Path, t.Archived, t.Turn, t.Tokens, t.tokensUnknown = e.Path, isArchived(e.Path), discover.Turn{}, nil, true
		if last := modTime(e); last.After(t.Updated) {
			t.Updated = last
		}
		t.addWarning(damage)
		return true, nil
	}
	t.reset(e)
	return false, damage
}

// otherRollouts lists the other rollouts of the thread, the preferred one first: the compressed copy of a plain file or, if the rollout
// begins with an edited prompt, those in its directory and in the date directories of the ID. It does not search further: a store of
// damaged rollouts must not cost a scan for each.
func otherRollouts(ctx context.Context, e discover.Entry) []discover.Entry {
	if segmentOf(e) == "" {
		path, ok := strings.CutSuffix(e.Path, plainExt)
		if !ok {
			return nil
		}
		return []discover.Entry{{Agent: e.Agent, ID: e.ID, Path: path + compressedExt, Home: e.Home}}
	}
	s := homeScan{ctx: ctx, home: e.Home, allRollouts: true} // its errors do not matter: the damage is reported
	same := func(name rolloutName) bool { return name.id == e.ID }
	if in, ok := daysOfID(e.ID); ok {
		s.walk(in, same)
	}
	s.walkDir(filepath.Dir(e.Path), "", len("YMD"), dayRange{}, same)
	others := slices.DeleteFunc(s.found, func(other discover.Entry) bool { return other.Path == e.Path })
	slices.SortFunc(others, func(a, b discover.Entry) int {
		switch {
		case preferred(a, b):
			return -1
		case preferred(b, a):
			return 1
		}
		return 0
	})
	return others
}

// addWarning adds a warning about one of the thread's rollouts. err may be nil.
func (t *storedThread) addWarning(err error) { t.warnings = errors.Join(t.warnings, err) }
