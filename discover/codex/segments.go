package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// errOther: a rollout that an edited prompt has begun is never another thread's.
var errOther = errors.New("its first record names another thread than the file does")

// begin completes the head of a rollout that an edited prompt has begun: a thread's time of creation and first prompt are
// those of its first rollout. Where that one cannot be read, a warning names it, and the newer one's prompt stays.
func (t *reading) begin(h *head, e discover.Entry, scratch *native.Buffers) error {
	if h.meta.found && h.ownID() != e.ID {
		return errOther
	}
	var first head
	path, err := findRollout(scratch.Context(), e.Home, e.ID)
	if err == nil {
		first, err = firstHead(path, e.ID, scratch)
	}
	switch {
	case native.Absent(err), errors.Is(err, errNoRollout): // it is gone: what the newer one tells is what there is
	case err != nil:
		h.meta.created, _ = born(e.ID)
		t.warn(warn(path, fmt.Errorf("the session's first prompt is left out: %w", native.Cause(path, err))))
	case first.meta.found:
		h.meta.created = first.meta.created
		h.prompt, h.review = first.prompt, first.review
	}
	return scratch.Context().Err()
}

// firstHead reads the beginning of a thread's first rollout.
func firstHead(path, id string, scratch *native.Buffers) (head, error) {
	f, err := openHead(path, headLimit, scratch)
	if err != nil {
		return head{}, err
	}
	defer f.Close()
	return segmentHead(f, id)
}

// segmentHead reads the beginning of one of a thread's rollouts. It is an error if that is no rollout, or another thread's.
func segmentHead(f *native.File, id string) (head, error) {
	h, err := readHead(f, id, (*head).whole)
	if err == nil && h.meta.found && h.ownID() != id {
		err = errOther
	}
	return h, err
}

// readOther reads a thread whose rollout is damaged from the best of its other rollouts. What only the damaged one can tell
// is unknown: the newest turn, and the tokens.
func (t *reading) readOther(e discover.Entry, damage error, scratch *native.Buffers) (ok bool, err error) {
	for _, other := range othersOf(scratch.Context(), e) {
		if ok, err := t.readEntry(other, discover.ReadOptions{}, scratch); !ok || err != nil || t.ID != e.ID {
			continue
		}
		t.Path, t.Archived, t.Turn, t.Tokens, t.vague = e.Path, isArchived(e.Path), discover.Turn{}, nil, true
		if last := changed(e); last.After(t.Updated) {
			t.Updated = last
		}
		t.warn(damage)
		return true, nil
	}
	t.name(e)
	return false, damage
}

// othersOf lists the other rollouts of the thread, the best one first: the compressed one beside a plain one and, where an
// edited prompt has begun the rollout, those in its folder and in the first one's. A store of damaged rollouts must not make
// each of them a search through all folders.
func othersOf(ctx context.Context, e discover.Entry) []discover.Entry {
	if segmentOf(e) == "" {
		path, ok := strings.CutSuffix(e.Path, plainExt)
		if !ok {
			return nil
		}
		return []discover.Entry{{Agent: e.Agent, ID: e.ID, Path: path + packedExt, Home: e.Home}}
	}
	s := scan{ctx: ctx, home: e.Home, every: true} // what cannot be listed has nothing to tell
	same := func(name rolloutName) bool { return name.id == e.ID }
	if in, ok := daysOf(e.ID); ok {
		s.walk(in, same)
	}
	s.dir(filepath.Dir(e.Path), "", len("YMD"), days{}, same)
	others := slices.DeleteFunc(s.found, func(other discover.Entry) bool { return other.Path == e.Path })
	slices.SortFunc(others, func(a, b discover.Entry) int {
		switch {
		case better(a, b):
			return -1
		case better(b, a):
			return 1
		}
		return 0
	})
	return others
}

// warn adds a warning about one of the thread's rollouts, if there is one.
func (t *reading) warn(err error) { t.partial = errors.Join(t.partial, err) }
