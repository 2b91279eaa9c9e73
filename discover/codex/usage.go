package codex

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// threadUsage is a thread and what it used.
type threadUsage struct {
	discover.SessionUsage
	warnings error
}

// ReadUsage reads whole rollouts. Each thread has its own tokens, without those of sub-agents.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for u, err := range fsread.ReadParallel(ctx, entries, readUsage) {
			if err != nil && !yield(nil, err) || u.warnings != nil && !yield(nil, u.warnings) {
				return
			}
			if len(u.Usage) > 0 && !yield(&u.SessionUsage, nil) {
				return
			}
		}
	}
}

// readUsage reads what one thread used. There is nothing where its tokens are not known.
func readUsage(ctx context.Context, e discover.Entry, u *threadUsage) (ok bool, err error) {
	var t storedThread
	if ok, err = t.read(ctx, e, discover.ReadOptions{Tokens: true}); !ok || err != nil {
		return ok, err
	}
	u.Record, u.warnings = t.Record, t.warnings
	u.TruncateTexts()
	if t.Tokens == nil {
		return true, nil
	}
	answers, err := threadAnswers(ctx, &t, e)
	if err != nil {
		return true, err
	}
	for _, a := range answers {
		u.Usage = append(u.Usage, discover.Usage{Time: a.Time, From: a.From, Model: a.Model, Tokens: disjoint(a.Tokens)})
	}
	return true, nil
}

// threadAnswers returns the answers in all rollouts of a thread, and in one more what only the thread's total has, as of the dropped
// middle of a compressed rollout. Their sum is that of the thread's tokens.
func threadAnswers(ctx context.Context, t *storedThread, e discover.Entry) (all []answerUsage, err error) {
	rollouts := []discover.Entry{e}
	if segmentOf(e) != "" {
		if rollouts, err = allRollouts(ctx, e.Home, e.ID, t.fileTime); err != nil {
			return nil, err
		}
	}
	var sum discover.Tokens
	for _, rollout := range rollouts {
		answers, used, err := rolloutAnswers(ctx, rollout.Path, e.ID)
		if err != nil {
			return nil, warn(rollout.Path, fmt.Errorf("when the session's tokens were used is unknown: %w", fsread.WithoutPath(rollout.Path, err)))
		}
		all, sum = append(all, answers...), addTokens(sum, used)
	}
	rest := subtractTokens(*t.Tokens, sum)
	if min(rest.In, rest.Out, rest.CacheRead, rest.CacheWrite, rest.Reasoning) < 0 { // the rollout went on meanwhile, or contradicts itself
		all, rest = all[:0], *t.Tokens
	}
	if inAndOut(rest) > 0 {
		all = append(all, answerUsage{From: t.Created, Time: t.Updated, Tokens: rest})
	}
	return all, nil
}

// rolloutAnswers returns the answers in one rollout, and their sum.
func rolloutAnswers(ctx context.Context, path, id string) ([]answerUsage, discover.Tokens, error) {
	f, _, err := openRollout(ctx, path)
	if err != nil {
		return nil, discover.Tokens{}, err
	}
	defer f.Close()
	head, err := segmentHead(f, id)
	if name, ok := parseRolloutName(filepath.Base(path)); ok && err == nil {
		head.Segment = name.segment
	}
	if err != nil {
		return nil, discover.Tokens{}, err
	}
	answers, err := readAnswers(f, &head)
	all, sum := answers.Larger()
	return all, sum, err
}

// disjoint converts Codex's counts: its input includes what was read from the cache and written to it.
func disjoint(t discover.Tokens) discover.Tokens {
	t.In = max(t.In-t.CacheRead-t.CacheWrite, 0)
	t.Total, t.Context, t.Window = t.In+t.CacheRead+t.CacheWrite+t.Out, 0, 0
	return t
}
