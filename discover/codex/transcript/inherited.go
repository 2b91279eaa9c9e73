package transcript

import (
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// TotalsAtEnd finds how a thread's books stand at the end of a file.
func TotalsAtEnd(f *fsread.File, id string) (u Usage, err error) {
	_, err = f.Backward(0, func(l fsread.Line) bool {
		r, ok := Decode(l.Bytes, id)
		if ok && (r.Kind == TokenUsageRecord || r.Kind == TokenCount) && r.Complete(l.Bytes) {
			u.add(&r)
		}
		return !u.Final
	})
	u.reachedStart()
	return u, err
}

// errContradictingCounts: the records of what was used contradict each other, as after some were lost.
var errContradictingCounts = errors.New("its token counts contradict each other, so that its tokens are unknown")

// SinceStart is what was used since the rollout began.
func (u Usage) SinceStart(f *fsread.File, h *Head) (discover.Tokens, error) {
	own := u.Totals
	if h.Meta.HasBase() && u.Any {
		then, err := inheritedTotals(f, h.ThreadID())
		if err != nil {
			return discover.Tokens{}, err
		}
		if !u.hasCount {
			then.counts = discover.Tokens{} // there are but records, each of its own answer
		}
		own = u.minus(then)
	}
	t := own.larger()
	if min(t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning, t.Total) < 0 {
		return discover.Tokens{}, errContradictingCounts
	}
	return t, nil
}

// inheritedTotals are the books with which a rollout begins that goes on from another one. Of the copies at its beginning, if
// there are any (0.104, and of such threads later, too), the last count tells. Where the other rollout is but named, the
// thread's own first answer does: what it used is stated beside the sum.
func inheritedTotals(f *fsread.File, id string) (Totals, error) {
	b := inheritedFinder{thread: id}
	b.threadCreated, _ = ThreadCreated(id)
	_, err := f.Forward(0, 0, b.addLine)
	if b.inCopy {
		b.firstOwn = f.Size()
	}
	if err != nil || b.firstOwn == 0 {
		return b.Totals, err
	}
	copies, err := TotalsAtEnd(f.Head(b.firstOwn), id)
	b.counts = copies.counts
	return b.Totals, err
}

// inheritedFinder finds the books with which a rollout begins, from its records, the oldest first.
type inheritedFinder struct {
	Totals
	thread        string
	threadCreated time.Time
	inCopy        bool  // this is a copy of another thread's
	firstOwn      int64 // where the thread's own records begin, after copies
	answered      bool  // the thread itself has got an answer
	countsKnown   bool  // what the counts begin with is known
}

// addLine takes the next line and reports whether more are needed.
func (b *inheritedFinder) addLine(l fsread.Line) bool {
	r, ok := Decode(l.Bytes, b.thread)
	switch {
	case !ok:
	case r.Kind == SessionMeta:
		b.inCopy = l.Offset > 0
	case StartsTurn(r.Kind):
		if made, ok := ThreadCreated(r.Get("turn_id").Text(0)); b.inCopy && ok && !made.Before(b.threadCreated) {
			b.inCopy, b.countsKnown, b.firstOwn = false, true, l.Offset
		}
	case b.inCopy:
	case r.Kind == TokenUsageRecord && r.Complete(l.Bytes):
		b.records = subtractTokens(parseTokens(r.Get("thread_token_usage").Object()), parseTokens(r.Get("usage").Object()))
		b.answered = true
		return !b.countsKnown
	case r.Kind == TokenCount && r.Complete(l.Bytes):
		return !b.addCount(r.Get("info").Object())
	case r.Kind.FromModel():
		b.answered = true
	}
	return true
}

// addCount takes a count and reports whether it tells all. Before an answer it repeats what was taken over.
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
