package opencode

import (
	"context"
	"errors"
	"iter"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/opencode/transcript"
)

// ReadUsage reads all messages of the sessions. Each session, sub-agents' ones included, has its own answers only.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for _, c := range batches(entries) {
			if ctx.Err() != nil {
				return
			}
			used, err := c.readUsage(ctx)
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

// readUsage reads what the sessions of a batch used. Its errors are warnings; what has vanished is none.
func (c batch) readUsage(ctx context.Context) (used []discover.SessionUsage, err error) {
	if c.isFile() {
		s, err := readLegacySession(ctx, c.home, c.path, discover.ReadOptions{})
		if s == nil {
			return nil, err
		}
		s.TruncateTexts()
		messages := newLegacyMessages(ctx, c.path, s.ID)
		used := discover.SessionUsage{Record: s.Record, Usage: transcript.ReadAnswers(messages, s.Created.UnixMilli())}
		return []discover.SessionUsage{used}, errors.Join(append(messages.errs, err)...)
	}
	err = readDatabase(ctx, c.home, c.path, func(st *database) {
		used = make([]discover.SessionUsage, 0, len(c.ids))
		for s := range st.sessions(c.ids, discover.ReadOptions{}) {
			s.TruncateTexts()
			used = append(used, discover.SessionUsage{Record: s.Record, Usage: transcript.ReadAnswers(st.messages(s.ID), s.Created.UnixMilli())})
		}
	})
	switch {
	case fsread.IsNotExist(err):
		return nil, nil
	case isDamage(err):
		return used, newWarning(c.path, err)
	case err != nil:
		return nil, newWarning(c.path, err)
	}
	return used, nil
}
