package codex

import (
	"cmp"
	"errors"
	"path/filepath"

	"agentctl/discover/native"
)

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
