package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentctl/discover"
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
func (t *transcript) baseOf(r *record) segment {
	h := parseHistory(r.get("history_base").Object())
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

// errNoRollout: there is none of that name.
var errNoRollout = errors.New("there is no rollout")

// findRollout finds the rollout whose name ends with an id, of a thread or of a part of one. One that cannot be read is
// returned with the error.
func findRollout(ctx context.Context, home, id string) (string, error) {
	s := scan{ctx: ctx, home: home}
	if in, ok := daysOf(id); ok {
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

// maxBases is how many rollouts back a thread is followed for what its newest ones do not say.
const maxBases = 16

// inherit completes what the end of a rollout tells by the rollouts that it goes on from, up to where each was left: a
// segment that begins with an edited prompt may have neither the settings of a turn nor a count of tokens so far.
func (t *tail) inherit(home string, h history, scratch *native.Buffers) error {
	for range maxBases {
		if h.id == "" || h.end <= 0 || t.context != (settings{}) && t.usage.context > 0 {
			return nil
		}
		path, err := findRollout(scratch.Context(), home, h.id)
		if err != nil {
			return nil //nolint:nilerr // it is gone: what the newer one tells is what there is
		}
		if h, err = t.inheritFrom(path, h, scratch); err != nil {
			return warn(path, err)
		}
	}
	return nil
}

// inheritFrom takes over from one rollout, and returns what that one goes on from.
func (t *tail) inheritFrom(path string, h history, scratch *native.Buffers) (history, error) {
	f, g, err := openRollout(path, scratch)
	if native.Absent(err) {
		return history{}, nil
	}
	if err != nil {
		return history{}, err
	}
	defer f.Close()
	name, _ := parseRollout(filepath.Base(path))
	head, err := readHead(f, name.id, (*head).whole)
	before, failed := readTail(f.Head(g.within(h.end)), tailLimit, name.id, wanted{})
	if err := errors.Join(err, failed); err != nil {
		return history{}, err
	}
	if t.context == (settings{}) {
		t.context = before.context
	}
	t.usage.context, t.usage.window = cmp.Or(t.usage.context, before.usage.context), cmp.Or(t.usage.window, before.usage.window)
	return head.meta.history, nil
}
