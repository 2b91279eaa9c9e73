package codex

import (
	"agentctl/discover"
	"agentctl/discover/native"
)

// spent is what an answer used, from its record until the answer is met. Records that are older replace it: they are
// nearer to the answer.
type spent struct {
	tokens *discover.Tokens
	sum    discover.Tokens // of the thread with it
	// direct: it follows its answer directly (0.42, where the answer's calls and texts are stored once more after it, and the
	// records of 0.160 and later). Otherwise the results of the answer's calls may stand between the two.
	direct bool
	paid   discover.Tokens // the sum with the last answer that was told what it used
}

// record takes the record of an answer.
func (s *spent) record(usage native.Object) {
	s.tokens, s.sum, s.direct = ofAnswer(usage), discover.Tokens{}, true
}

// count takes a count, which may repeat an older one. afterwards: what follows it is of an answer itself.
func (s *spent) count(info native.Object, afterwards bool) {
	if len(info) == 0 || info[0] != '{' {
		return
	}
	s.tokens, s.sum, s.direct = ofAnswer(info.Get("last_token_usage").Object()), tokens(info.Get("total_token_usage").Object()), afterwards
	if s.sum == s.paid {
		s.tokens = nil
	}
}

// pay gives what the answer at hand used, once.
func (s *spent) pay() *discover.Tokens {
	t := s.tokens
	if t != nil && s.sum != (discover.Tokens{}) {
		s.paid = s.sum
	}
	s.tokens = nil
	return t
}

// forget: what stands before was not part of the answer.
func (s *spent) forget() { s.tokens = nil }

// result takes the result of a call.
func (s *spent) result() {
	if s.direct {
		s.forget()
	}
}
