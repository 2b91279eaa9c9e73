package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// ownTokens is what a thread itself has used, of which the newest rollout's books stand at u: without what it took over
// from the one that it was forked from, and with what its person took back by editing an earlier prompt. Such an edit
// begins another rollout of the same thread (SEEN 0.169).
func ownTokens(f *native.File, u usage, h *head, path, home string) (discover.Tokens, error) {
	own, err := u.since(f, h)
	if err != nil {
		return own, warn(path, err)
	}
	if h.segment == "" {
		return own, nil
	}
	all, err := rolloutsOf(f.Context(), home, h.ownID(), f.ModTime())
	if err != nil {
		return own, err
	}
	for _, other := range all {
		if filepath.Base(other.Path) == filepath.Base(path) {
			continue
		}
		more, err := tokensOf(f, other.Path, h.ownID())
		if err != nil {
			return own, warn(other.Path, fmt.Errorf("the session's tokens are unknown: %w", native.Cause(other.Path, err)))
		}
		own = plus(own, more)
	}
	return own, nil
}

// tokensOf is what was used in one rollout of a thread, of which another one is open.
func tokensOf(newest *native.File, path, id string) (discover.Tokens, error) {
	f, _, err := openRollout(path, newest.Holder())
	if err != nil {
		return discover.Tokens{}, err
	}
	defer f.Close()
	h, err := segmentHead(f, id)
	if err != nil {
		return discover.Tokens{}, err
	}
	u, err := booksAt(f, id)
	if err != nil {
		return discover.Tokens{}, err
	}
	return u.since(f, &h)
}

// booksAt finds how a thread's books stand at the end of a file.
func booksAt(f *native.File, id string) (u usage, err error) {
	_, err = f.Backward(0, func(l native.Line) bool {
		r, ok := decode(l.Bytes, id)
		if ok && (r.is == tokenRecord || r.is == tokenCount) && r.whole(l.Bytes) {
			u.see(&r)
		}
		return !u.settled
	})
	u.end()
	return u, err
}

// errCounts: the records of what was used contradict each other, as after some were lost.
var errCounts = errors.New("its token counts contradict each other, so that its tokens are unknown")

// since is what was used since the rollout began.
func (u usage) since(f *native.File, h *head) (discover.Tokens, error) {
	own := u.books
	if h.meta.continues() && u.begun {
		then, err := inherited(f, h.ownID())
		if err != nil {
			return discover.Tokens{}, err
		}
		if !u.counted {
			then.counts = discover.Tokens{} // there are but records, each of its own answer
		}
		own = u.less(then)
	}
	t := own.best()
	if min(t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning, t.Total) < 0 {
		return discover.Tokens{}, errCounts
	}
	return t, nil
}

// inherited are the books with which a rollout begins that goes on from another one. Of the copies at its beginning, if
// there are any (0.104, and of such threads later, too), the last count tells. Where the other rollout is but named, the
// thread's own first answer does: what it used is stated beside the sum.
func inherited(f *native.File, id string) (books, error) {
	b := beginning{id: id}
	b.born, _ = born(id)
	_, err := f.Forward(0, 0, b.line)
	if b.copied {
		b.start = f.Size()
	}
	if err != nil || b.start == 0 {
		return b.books, err
	}
	copies, err := booksAt(f.Head(b.start), id)
	b.counts = copies.counts
	return b.books, err
}

// beginning finds the books with which a rollout begins, from its records, the oldest first.
type beginning struct {
	books
	id       string
	born     time.Time
	copied   bool  // this is a copy of another thread's
	start    int64 // where the thread's own records begin, after copies
	answered bool  // the thread itself has got an answer
	counted  bool  // what the counts begin with is known
}

// line takes the next line and reports whether more are needed.
func (b *beginning) line(l native.Line) bool {
	r, ok := decode(l.Bytes, b.id)
	switch {
	case !ok:
	case r.is == sessionMeta:
		b.copied = l.Offset > 0
	case begins(r.is):
		if made, ok := born(r.get("turn_id").Text(0)); b.copied && ok && !made.Before(b.born) {
			b.copied, b.counted, b.start = false, true, l.Offset
		}
	case b.copied:
	case r.is == tokenRecord && r.whole(l.Bytes):
		b.records = minus(tokens(r.get("thread_token_usage").Object()), tokens(r.get("usage").Object()))
		b.answered = true
		return !b.counted
	case r.is == tokenCount && r.whole(l.Bytes):
		return !b.count(r.get("info").Object())
	case r.is.ofModel():
		b.answered = true
	}
	return true
}

// count takes a count and reports whether it tells all. Before an answer it repeats what was taken over.
func (b *beginning) count(info native.Object) bool {
	if len(info) == 0 || info[0] != '{' {
		return false
	}
	total := tokens(info.Get("total_token_usage").Object())
	switch {
	case !b.answered:
		b.counts, b.counted = total, true
	case !b.counted:
		b.counts = minus(total, tokens(info.Get("last_token_usage").Object()))
	}
	return b.answered
}

// rolloutsOf lists all rollouts of a thread that was last used at the given time. Those are missing that the error names.
func rolloutsOf(ctx context.Context, home, id string, last time.Time) ([]discover.Entry, error) {
	made, ok := born(id)
	if !ok {
		return nil, nil
	}
	s := scan{ctx: ctx, home: home, every: true}
	s.walk(days{made.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 0, 1).UTC().Format(dayLayout)}, func(name rolloutName) bool { return name.id == id })
	return s.found, errors.Join(s.errs...)
}
