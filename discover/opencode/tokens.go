package opencode

import (
	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// usage returns what the record says.
func (s *session) usage() (u transcript.Usage) {
	if s.Tokens != nil {
		u.Tokens = *s.Tokens
	}
	if s.Cost != nil {
		u.Cost = *s.Cost
	}
	return u
}

// setUsage stores the usage in the record. Without tokens, both totals stay nil, and so does a cost that is unknown: see
// [transcript.Usage].
func (s *session) setUsage(u transcript.Usage) {
	s.Tokens, s.Cost = nil, nil
	if u.Tokens.Total > 0 {
		s.Tokens = &u.Tokens
	}
	if u.Tokens.Total > 0 && u.Cost > 0 {
		s.Cost = &u.Cost
	}
}

// setContext stores the size of the context, also in the record of a copy that has used nothing so far.
func (s *session) setContext(size int64) {
	if s.Tokens == nil && size > 0 {
		s.Tokens, s.Cost = &discover.Tokens{}, new(float64)
	}
	if s.Tokens != nil {
		s.Tokens.Context = size
	}
}

// addUsage adds the usage of sub-agents. The size of the context stays.
func (s *session) addUsage(u transcript.Usage) {
	sum := s.usage()
	sum.Add(u)
	s.setUsage(sum)
	s.setContext(sum.Tokens.Context)
}

// fillUsage corrects the usage that the agent has added up. If the session is a copy, the agent's sum includes the messages copied from
// the other session, which has them in its own sum. If there is no sum or such a sum, only all messages together tell the usage.
func (s *session) fillUsage(rows transcript.Rows, all bool) {
	created := s.Created.UnixMilli()
	copied := s.head.FirstCreated > 0 && s.head.FirstCreated < created
	if s.Tokens == nil || copied {
		if s.Tokens, s.Cost = nil, nil; !all {
			return
		}
		s.setUsage(transcript.ReadUsage(rows, created))
	}
	if all {
		s.setContext(transcript.ReadContext(rows))
	} else if s.tail.Last != nil {
		s.setContext(s.tail.Last.ContextSize())
	}
}
