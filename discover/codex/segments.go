package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native/fsread"
)

// errOtherThread: a rollout that an edited prompt has begun is never another thread's.
var errOtherThread = errors.New("its first record names another thread than the file does")

// completeHead completes the head of a rollout that an edited prompt has begun: a thread's time of creation and first prompt are
// those of its first rollout. Where that one cannot be read, a warning names it, and the newer one's prompt stays.
func (t *storedThread) completeHead(h *transcript.Head, e discover.Entry, scratch *fsread.Buffers) error {
	if h.Meta.Found && h.ThreadID() != e.ID {
		return errOtherThread
	}
	var first transcript.Head
	path, err := findRollout(scratch.Context(), e.Home, e.ID)
	if err == nil {
		first, err = firstHead(path, e.ID, scratch)
	}
	switch {
	case fsread.IsNotExist(err), errors.Is(err, errNoRollout): // it is gone: what the newer one tells is what there is
	case err != nil:
		h.Meta.Created, _ = transcript.ThreadCreated(e.ID)
		t.addWarning(warn(path, fmt.Errorf("the session's first prompt is left out: %w", fsread.WithoutPath(path, err))))
	case first.Meta.Found:
		h.Meta.Created = first.Meta.Created
		h.Prompt, h.Review = first.Prompt, first.Review
	}
	return scratch.Context().Err()
}

// firstHead reads the beginning of a thread's first rollout.
func firstHead(path, id string, scratch *fsread.Buffers) (transcript.Head, error) {
	f, err := openHead(path, transcript.HeadLimit, scratch)
	if err != nil {
		return transcript.Head{}, err
	}
	defer f.Close()
	return segmentHead(f, id)
}

// segmentHead reads the beginning of one of a thread's rollouts. It is an error if that is no rollout, or another thread's.
func segmentHead(f *fsread.File, id string) (transcript.Head, error) {
	h, err := transcript.ReadHead(f, id, (*transcript.Head).Complete)
	if err == nil && h.Meta.Found && h.ThreadID() != id {
		err = errOtherThread
	}
	return h, err
}

// readAlternative reads a thread whose rollout is damaged from the best of its other rollouts. What only the damaged one can tell
// is unknown: the newest turn, and the tokens.
func (t *storedThread) readAlternative(e discover.Entry, damage error, scratch *fsread.Buffers) (ok bool, err error) {
	for _, other := range otherRollouts(scratch.Context(), e) {
		if ok, err := t.readEntry(other, discover.ReadOptions{}, scratch); !ok || err != nil || t.ID != e.ID {
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

// otherRollouts lists the other rollouts of the thread, the best one first: the compressed one beside a plain one and, where an
// edited prompt has begun the rollout, those in its folder and in the first one's. A store of damaged rollouts must not make
// each of them a search through all folders.
func otherRollouts(ctx context.Context, e discover.Entry) []discover.Entry {
	if segmentOf(e) == "" {
		path, ok := strings.CutSuffix(e.Path, plainExt)
		if !ok {
			return nil
		}
		return []discover.Entry{{Agent: e.Agent, ID: e.ID, Path: path + compressedExt, Home: e.Home}}
	}
	s := homeScan{ctx: ctx, home: e.Home, allRollouts: true} // what cannot be listed has nothing to tell
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

// addWarning adds a warning about one of the thread's rollouts, if there is one.
func (t *storedThread) addWarning(err error) { t.warnings = errors.Join(t.warnings, err) }
