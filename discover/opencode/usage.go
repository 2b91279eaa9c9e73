package opencode

import (
	"context"
	"errors"
	"iter"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// ReadUsage implements [discover.UsageReader]. It reads all messages of the sessions. The answers of a sub-agent are in its own session.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for _, b := range batches(entries) {
			if ctx.Err() != nil {
				return
			}
			used, err := b.readUsage(ctx)
			if err != nil && !yield(nil, err) {
				return
			}
			for i := range used {
				if len(used[i].Usage) > 0 && !yield(&used[i], nil) {
					return
				}
			}
		}
	}
}

// readUsage reads what the sessions of a batch used, as [batch.read] reads their records.
func (b batch) readUsage(ctx context.Context) (used []discover.SessionUsage, err error) {
	if b.isLegacy() {
		s, err := readLegacySession(ctx, b.home, b.path, discover.ReadOptions{})
		if s == nil {
			return nil, err
		}
		s.TruncateTexts()
		messages := newLegacyMessages(ctx, b.path, s.ID)
		used := discover.SessionUsage{Record: s.Record, Usage: transcript.ReadAnswers(messages, s.Created.UnixMilli())}
		return []discover.SessionUsage{used}, errors.Join(append(messages.errs, err)...)
	}
	ok, err := b.readDatabase(ctx, func(d *database) {
		used = make([]discover.SessionUsage, 0, len(b.ids))
		for s := range d.sessions(b.ids, discover.ReadOptions{}) {
			s.TruncateTexts()
			used = append(used, discover.SessionUsage{Record: s.Record, Usage: transcript.ReadAnswers(d.messages(s.ID), s.Created.UnixMilli())})
		}
	})
	if !ok {
		used = nil
	}
	return used, err
}
