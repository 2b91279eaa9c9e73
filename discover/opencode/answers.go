package opencode

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
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
		answers, failed := legacyAnswers(ctx, s)
		return []discover.SessionUsage{{Record: s.Record, Usage: answers}}, errors.Join(err, failed)
	}
	err = readDatabase(ctx, c.home, c.path, func(st *database) {
		used = make([]discover.SessionUsage, 0, len(c.ids))
		for s := range st.sessions(c.ids, discover.ReadOptions{}) {
			s.TruncateTexts()
			used = append(used, discover.SessionUsage{Record: s.Record, Usage: st.answersSince(s.ID, s.Created.UnixMilli())})
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

// answersSince returns a session's own answers: what is older than the session was copied from another one.
func (st *database) answersSince(session string, created int64) (out []discover.Usage) {
	for r := range st.messages(session, newestFirst) {
		at := r.Int("time_created")
		if at < created {
			break
		}
		m := answerIn(r)
		m.created = cmp.Or(m.created, at)
		out = m.appendUsage(out)
	}
	return out
}

// legacyAnswers is answersSince of a session of JSON files.
func legacyAnswers(ctx context.Context, s *session) (out []discover.Usage, err error) {
	files := legacyPathsOf(s.Path, s.ID)
	names, err := listJSONNames(ctx, files.messages, "msg_")
	errs := []error{err}
	for _, name := range names {
		m, err := readLegacyMessage(ctx, files, name)
		if errs = append(errs, err); !timeOf(m.created).Before(s.Created) {
			out = m.appendUsage(out)
		}
	}
	return out, errors.Join(errs...)
}

// appendUsage appends what an answer used. OpenCode counts the reasoning apart from the output.
func (m message) appendUsage(to []discover.Usage) []discover.Usage {
	if m.role != "assistant" || m.tokens.Total == 0 && m.cost == 0 {
		return to
	}
	t := m.tokens
	t.Out += t.Reasoning
	return append(to, discover.Usage{Time: timeOf(cmp.Or(m.completed, m.created)), Model: m.model, Tokens: t, Cost: m.cost, CostKnown: true})
}
