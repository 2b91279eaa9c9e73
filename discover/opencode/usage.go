package opencode

import (
	"cmp"
	"context"
	"iter"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadUsage implements [discover.Adapter]. It reads all messages of the sessions, and leaves out sessions without answers. The answers of a
// sub-agent are in its own session.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return readSessions(ctx, entries, discover.ReadOptions{}, func(s *session, rows rowReader) (*discover.SessionUsage, bool) {
		answers := readAnswers(rows, s.copiedBefore())
		return &discover.SessionUsage{Record: s.record(), Usage: answers}, len(answers) > 0
	})
}

// usage is what answers took: tokens, and their cost in USD by the agent's own prices. OpenCode stores 0 for a model whose price it
// does not know (SEEN 1.18.33), which a free model costs too: a cost of 0 for answers that took tokens is unknown.
type usage struct {
	Tokens discover.Tokens
	Cost   float64
}

// Add adds other usage.
func (u *usage) Add(v usage) {
	u.Tokens, u.Cost = u.Tokens.Plus(v.Tokens), u.Cost+v.Cost
}

// sumTokens sets the total to the sum of the others.
func sumTokens(t discover.Tokens) discover.Tokens {
	t.Total = t.In + t.Out + t.Reasoning + t.CacheRead + t.CacheWrite
	return t
}

// parseTokens parses {"total","input","output","reasoning","cache":{"read","write"}}. Versions before 1.1 have no total.
func parseTokens(o storage.Object) discover.Tokens {
	cache := o.Get("cache").Object()
	return sumTokens(discover.Tokens{
		In: o.Get("input").Int(), Out: o.Get("output").Int(), Reasoning: o.Get("reasoning").Int(),
		CacheRead: cache.Get("read").Int(), CacheWrite: cache.Get("write").Int(),
	})
}

// ownAnswers yields the answers of a session that was created at a time, newest first, without those that were copied into it.
func ownAnswers(rows rowReader, created int64) iter.Seq[storedMessage] {
	return func(yield func(storedMessage) bool) {
		for r := range rows.Newest(cursor{}) {
			if r.isCopied(created) {
				continue
			}
			if m := readAnswer(r); m.Role == assistantRole && !(r.Type == "" && isCopied(m.ID, m.Created, created)) && !yield(m) {
				return
			}
		}
	}
}

// readUsage adds up the answers of a session that was created at a time, in milliseconds.
func readUsage(rows rowReader, created int64) (sum usage) {
	for m := range ownAnswers(rows, created) {
		sum.Add(usage{m.tokens, m.cost})
	}
	return sum
}

// readAnswers returns what each answer of a session that was created at a time, in milliseconds, used. OpenCode counts the reasoning apart
// from the output.
func readAnswers(rows rowReader, created int64) (answers []discover.Usage) {
	for m := range ownAnswers(rows, created) {
		if m.tokens.Total == 0 && m.cost == 0 {
			continue
		}
		t := m.tokens
		t.Out += t.Reasoning
		answers = append(answers, discover.Usage{
			Time: fromMillis(cmp.Or(m.Completed, m.Created)), Model: m.Model, Tokens: t, Cost: m.cost, CostKnown: m.cost > 0,
		})
	}
	return answers
}

// readContext returns the size of the session's context in tokens, from the newest answer that has it.
func readContext(rows rowReader) int64 {
	for r := range rows.Newest(cursor{}) {
		if m := readAnswer(r); m.tokens.Total > 0 {
			return m.ContextSize()
		}
	}
	return 0
}

// ContextSize returns the size of the context after an answer, in tokens: the request and the answer. After a compaction it is unknown
// until the next answer, and 0.
func (s *storedMessage) ContextSize() int64 {
	if s.summary {
		return 0
	}
	return s.tokens.Total
}

// readAnswer reads a message of the model, and of the user's messages only the head: they may contain whole files that changed.
func readAnswer(r storedRow) storedMessage {
	if isUsers(r) {
		return storedMessage{}
	}
	return parseRow(r, r.JSON())
}
