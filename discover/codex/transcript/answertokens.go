package transcript

import (
	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// answerTokens is what an answer used, from its record until the answer is met. Records that are older replace it: they are
// nearer to the answer.
type answerTokens struct {
	tokens      *discover.Tokens
	threadTotal discover.Tokens // of the thread with it
	// directlyAfter: it follows its answer directly (0.42, where the answer's calls and texts are stored once more after it, and the
	// records of 0.160 and later). Otherwise the results of the answer's calls may stand between the two.
	directlyAfter bool
	takenTotal    discover.Tokens // the sum with the last answer that was told what it used
}

// setRecord takes the record of an answer.
func (s *answerTokens) setRecord(usage jsonl.Object) {
	s.tokens, s.threadTotal, s.directlyAfter = parseAnswerTokens(usage), discover.Tokens{}, true
}

// setCount takes a count, which may repeat an older one. afterwards: what follows it is of an answer itself.
func (s *answerTokens) setCount(info jsonl.Object, afterwards bool) {
	if len(info) == 0 || info[0] != '{' {
		return
	}
	s.tokens, s.threadTotal, s.directlyAfter = parseAnswerTokens(info.Get("last_token_usage").Object()), parseTokens(info.Get("total_token_usage").Object()), afterwards
	if s.threadTotal == s.takenTotal {
		s.tokens = nil
	}
}

// take gives what the answer at hand used, once.
func (s *answerTokens) take() *discover.Tokens {
	t := s.tokens
	if t != nil && s.threadTotal != (discover.Tokens{}) {
		s.takenTotal = s.threadTotal
	}
	s.tokens = nil
	return t
}

// clear: what stands before was not part of the answer.
func (s *answerTokens) clear() { s.tokens = nil }

// addResult takes the result of a call.
func (s *answerTokens) addResult() {
	if s.directlyAfter {
		s.clear()
	}
}
