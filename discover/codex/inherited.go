package codex

import (
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// readUsageAtEnd reads the usage of a thread at the end of a file.
func readUsageAtEnd(f *fsread.File, id string) (u usageAtEnd, err error) {
	_, err = f.Backward(0, func(l fsread.Line) bool {
		r, ok := decodeRecord(l.Bytes, id)
		if ok && (r.Kind == kindTokenUsage || r.Kind == kindTokenCount) && r.Complete(l.Bytes) {
			u.add(&r)
		}
		return !u.Final
	})
	u.reachedStart()
	return u, err
}

// errContradictingCounts is the error of totals that decrease, as after records were lost.
var errContradictingCounts = errors.New("its token counts contradict each other, so that its tokens are unknown")

// SinceStart is what was used since the rollout began. u is the usage at its end.
func (u usageAtEnd) SinceStart(f *fsread.File, h *rolloutHead) (discover.Tokens, error) {
	used := u.twoTotals
	if h.Meta.HasBase() && u.Any {
		then, err := inheritedTotals(f, h.ThreadID())
		if err != nil {
			return discover.Tokens{}, err
		}
		if !u.hasCount {
			then.counts = discover.Tokens{} // without a token_count, the totals are sums of answers: nothing is inherited
		}
		used = u.minus(then)
	}
	t := used.larger()
	if min(t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning, t.Total) < 0 {
		return discover.Tokens{}, errContradictingCounts
	}
	return t, nil
}

// inheritedTotals are the totals that a rollout begins with which continues another one. If copies of the other's records are at its
// beginning (0.104, and later in threads of that version), their last count has them. Otherwise the thread's first answer has them:
// its own tokens are recorded beside the total.
func inheritedTotals(f *fsread.File, id string) (twoTotals, error) {
	b, err := readInherited(f, id)
	return b.twoTotals, err
}

// readInherited finds what a rollout begins with which continues another one: see [inheritedTotals].
func readInherited(f *fsread.File, id string) (inheritedFinder, error) {
	b := inheritedFinder{thread: id}
	b.threadCreated, _ = threadCreated(id)
	_, err := f.Forward(0, 0, b.addLine)
	if b.inCopy {
		b.firstOwn = f.Size()
	}
	if err != nil || b.firstOwn == 0 {
		return b, err
	}
	copies, err := readUsageAtEnd(f.Head(b.firstOwn), id)
	b.counts = copies.counts
	return b, err
}

// inheritedFinder finds the totals that a rollout begins with. Records come oldest first.
type inheritedFinder struct {
	twoTotals
	thread        string
	threadCreated time.Time
	inCopy        bool  // the records are copies of another thread's
	firstOwn      int64 // the offset of the first record after the copies
	answered      bool  // an answer in this rollout has come
	countsKnown   bool  // counts is final
}

// addLine adds the next line and reports whether more are needed.
func (b *inheritedFinder) addLine(l fsread.Line) bool {
	r, ok := decodeRecord(l.Bytes, b.thread)
	switch {
	case !ok:
	case r.Kind == kindSessionMeta:
		b.inCopy = l.Offset > 0
	case startsTurn(r.Kind):
		if made, ok := threadCreated(r.Get("turn_id").Text(0)); b.inCopy && ok && !made.Before(b.threadCreated) {
			b.inCopy, b.countsKnown, b.firstOwn = false, true, l.Offset
		}
	case b.inCopy:
	case r.Kind == kindTokenUsage && r.Complete(l.Bytes):
		b.records = subtractTokens(parseTokens(r.Get("thread_token_usage").Object()), parseTokens(r.Get("usage").Object()))
		b.answered = true
		return !b.countsKnown
	case r.Kind == kindTokenCount && r.Complete(l.Bytes):
		return !b.addCount(r.Get("info").Object())
	case r.Kind.FromModel():
		b.answered = true
	}
	return true
}

// addCount adds a token_count and reports whether the totals are final. Before the first answer it repeats the inherited count.
func (b *inheritedFinder) addCount(info jsonl.Object) bool {
	if len(info) == 0 || info[0] != '{' {
		return false
	}
	total := parseTokens(info.Get("total_token_usage").Object())
	switch {
	case !b.answered:
		b.counts, b.countsKnown = total, true
	case !b.countsKnown:
		b.counts = subtractTokens(total, parseTokens(info.Get("last_token_usage").Object()))
	}
	return b.answered
}
