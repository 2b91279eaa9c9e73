package opencode

import (
	"agentctl/discover"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
)

// usage is what answers took, and what they cost by the agent's own prices.
type usage struct {
	tokens discover.Tokens
	cost   float64
}

func (u *usage) add(v usage) {
	u.cost += v.cost
	u.tokens.In += v.tokens.In
	u.tokens.Out += v.tokens.Out
	u.tokens.Reasoning += v.tokens.Reasoning
	u.tokens.CacheRead += v.tokens.CacheRead
	u.tokens.CacheWrite += v.tokens.CacheWrite
	u.tokens.Total += v.tokens.Total
}

func (u *usage) addAnswer(m message) {
	if m.role == "assistant" {
		u.add(usage{m.tokens, m.cost})
	}
}

// usage is what the record says.
func (s *session) usage() (u usage) {
	if s.Tokens != nil {
		u.tokens = *s.Tokens
	}
	if s.Cost != nil {
		u.cost = *s.Cost
	}
	return u
}

// setUsage stores the usage in the record. Without tokens, both totals stay nil.
func (s *session) setUsage(u usage) {
	if s.Tokens, s.Cost = nil, nil; u.tokens.Total > 0 {
		s.Tokens, s.Cost = &u.tokens, &u.cost
	}
}

// storedUsage is the sum that the agent keeps with a session (1.15 and later; older sessions got theirs with the columns).
// It is that over the session's own messages: what was undone is not in it, nor are sub-agents; in a copy (`--fork`), what
// was copied is (SEEN 1.18.33).
func storedUsage(r *sqlite.Row) usage {
	count := func(column string) int64 { return max(r.Int(column), 0) }
	t := discover.Tokens{
		In: count("tokens_input"), Out: count("tokens_output"), Reasoning: count("tokens_reasoning"),
		CacheRead: count("tokens_cache_read"), CacheWrite: count("tokens_cache_write"),
	}
	t.Total = totalTokens(t)
	return usage{t, r.Real("cost")}
}

func totalTokens(t discover.Tokens) int64 {
	return t.In + t.Out + t.Reasoning + t.CacheRead + t.CacheWrite
}

// fillUsage makes the session's own sum the one of all that was done for it: with that of its sub-agents, without what was
// copied from the session that it was forked from, which is in that one's sum. Where the agent keeps no sum, or one with
// copies in it, only all messages tell; first is the time of the first one.
func (s *session) fillUsage(st *database, first int64, all bool) {
	created := s.Created.UnixMilli()
	copied := first > 0 && first < created
	if s.Tokens == nil || copied {
		if s.Tokens, s.Cost = nil, nil; !all {
			return
		}
		s.setUsage(st.usageSince(s.ID, created))
	}
	if s.hasSubAgents {
		sum := s.usage()
		st.addSubAgentUsage(&sum, s.ID, all)
		s.setUsage(sum)
	}
	if all {
		s.setContext(st.contextOf(s.ID))
	}
}

// addSubAgentUsage adds the sums of the sub-agents of a session, and theirs.
func (st *database) addSubAgentUsage(sum *usage, session string, all bool) {
	for r := range st.descendants(session) {
		u := storedUsage(r)
		if u.tokens.Total == 0 && all {
			u = st.usageSince(r.Text("id", shortLimit), r.Int("time_created"))
		}
		sum.add(u)
	}
}

// usageSince adds up a session's answers since a time.
func (st *database) usageSince(session string, since int64) (sum usage) {
	for r := range st.messages(session, newestFirst) {
		if r.Int("time_created") < since {
			break
		}
		sum.addAnswer(answerIn(r))
	}
	return sum
}

// contextOf is the size of a session's context, by the newest answer that says it.
func (st *database) contextOf(session string) int64 {
	for r := range st.messages(session, newestFirst) {
		if m := answerIn(r); m.tokens.Total > 0 {
			return m.contextSize()
		}
	}
	return 0
}

// setContext tells it also of a copy that has used nothing so far.
func (s *session) setContext(size int64) {
	if s.Tokens == nil && size > 0 {
		s.Tokens, s.Cost = &discover.Tokens{}, new(float64)
	}
	if s.Tokens != nil {
		s.Tokens.Context = size
	}
}

// contextSize is how large the context is after an answer: all that was sent and said. After a summary it is not known before
// the next answer.
func (m message) contextSize() int64 {
	if m.summary {
		return 0
	}
	return m.tokens.Total
}

// headLimit is how many characters of a row's JSON tell what it is.
const headLimit = 300

// answerIn is the message of a row, if it is the model's; of a person's, no more is read than its head: behind that stand
// whole files where they were changed.
func answerIn(r *sqlite.Row) message {
	if role := jsonl.Object(r.TextBytes("data", headLimit)).Get("role"); role.Text(shortLimit) == "user" {
		return message{}
	}
	return parseMessage(r.Bytes("data", maxPart))
}
