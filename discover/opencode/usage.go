package opencode

import (
	"context"
	"errors"
	"iter"

	"agentctl/discover"
)

// ReadUsage implements [discover.UsageReader]. It reads all messages of the sessions. The answers of a sub-agent are in its own session.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return readBatches(ctx, entries, func(b batch) ([]*discover.SessionUsage, error) { return b.readUsage(ctx) })
}

// readUsage reads what the sessions of a batch used, as [batch.read] reads their records. It leaves out sessions without answers.
func (b batch) readUsage(ctx context.Context) (used []*discover.SessionUsage, err error) {
	add := func(s *session, rows rowReader) {
		if answers := readAnswers(rows, s.Created.UnixMilli()); len(answers) > 0 {
			used = append(used, &discover.SessionUsage{Record: s.record(), Usage: answers})
		}
	}
	if b.isLegacy() {
		s, err := readLegacySession(ctx, b.home, b.path, discover.ReadOptions{})
		if s == nil {
			return nil, err
		}
		messages := newLegacyMessages(ctx, b.path, s.ID)
		add(s, messages)
		return used, errors.Join(append(messages.errs, err)...)
	}
	ok, err := b.readDatabase(ctx, func(d *database) {
		used = nil
		for s := range d.sessions(b.ids, discover.ReadOptions{}) {
			add(s, d.messages(s.ID))
		}
	})
	if !ok {
		used = nil
	}
	return used, err
}
