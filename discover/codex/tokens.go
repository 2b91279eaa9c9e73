package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// threadTokens is what a thread itself has used, given the usage u at the end of its newest rollout. It leaves out what the thread
// inherited from the one that it was forked from, and includes turns that the user took back by editing an earlier prompt: such an
// edit begins another rollout of the same thread (SEEN 0.169).
func threadTokens(f *fsread.File, u usageAtEnd, h *rolloutHead, path, home string) (discover.Tokens, error) {
	sum, err := u.SinceStart(f, h)
	if err != nil {
		return sum, warn(path, err)
	}
	if h.Segment == "" {
		return sum, nil
	}
	all, err := allRollouts(f.Context(), home, h.ThreadID(), f.ModTime())
	if err != nil {
		return sum, err
	}
	for _, other := range all {
		if filepath.Base(other.Path) == filepath.Base(path) {
			continue
		}
		more, err := rolloutTokens(f, other.Path, h.ThreadID())
		if err != nil {
			return sum, warn(other.Path, fmt.Errorf("the session's tokens are unknown: %w", fsread.WithoutPath(other.Path, err)))
		}
		sum = addTokens(sum, more)
	}
	return sum, nil
}

// rolloutTokens is what was used in another rollout of the thread whose newest one is open.
func rolloutTokens(newest *fsread.File, path, id string) (discover.Tokens, error) {
	f, _, err := openRollout(newest.Context(), path)
	if err != nil {
		return discover.Tokens{}, err
	}
	defer f.Close()
	h, err := segmentHead(f, id)
	if err != nil {
		return discover.Tokens{}, err
	}
	u, err := readUsageAtEnd(f, id)
	if err != nil {
		return discover.Tokens{}, err
	}
	return u.SinceStart(f, &h)
}

// allRollouts lists all rollouts of a thread that was last used at the given time. The error names those that are missing.
func allRollouts(ctx context.Context, home, id string, last time.Time) ([]discover.Entry, error) {
	made, ok := threadCreated(id)
	if !ok {
		return nil, nil
	}
	s := homeScan{ctx: ctx, home: home, allRollouts: true}
	s.walk(dayRange{made.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 0, 1).UTC().Format(dayLayout)}, func(name rolloutName) bool { return name.id == id })
	return s.found, errors.Join(s.errs...)
}
