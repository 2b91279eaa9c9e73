package codex

import (
	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// answerTokens finds the tokens of an answer among the records, which come newest first. It keeps a record of tokens until the answer
// comes. An older record of tokens replaces a newer one: it is nearer to the answer.
type answerTokens struct {
	tokens      *discover.Tokens
	threadTotal discover.Tokens // the thread's total, this answer included
	// directlyAfter: the record directly follows the answer (in 0.42, where the answer's calls and texts are stored once more after it,
	// and the records of 0.160 and later). Otherwise the results of the answer's calls can be between the two.
	directlyAfter bool
	takenTotal    discover.Tokens // the thread's total with the last answer that got its tokens
}

// setRecord sets the tokens from a token_usage_record.
func (s *answerTokens) setRecord(usage jsonl.Object) {
	s.tokens, s.threadTotal, s.directlyAfter = parseAnswerTokens(usage), discover.Tokens{}, true
}

// setCount sets the tokens from a token_count, which can repeat an older one. afterwards: the next newer record belongs to an answer.
func (s *answerTokens) setCount(info jsonl.Object, afterwards bool) {
	if len(info) == 0 || info[0] != '{' {
		return
	}
	s.tokens, s.threadTotal, s.directlyAfter = parseAnswerTokens(info.Get("last_token_usage").Object()), parseTokens(info.Get("total_token_usage").Object()), afterwards
	if s.threadTotal == s.takenTotal {
		s.tokens = nil
	}
}

// take returns the tokens of the answer that has come, once.
func (s *answerTokens) take() *discover.Tokens {
	t := s.tokens
	if t != nil && s.threadTotal != (discover.Tokens{}) {
		s.takenTotal = s.threadTotal
	}
	s.tokens = nil
	return t
}

// clear drops the tokens: the next older records do not belong to their answer.
func (s *answerTokens) clear() { s.tokens = nil }

// addResult handles the result of a tool call.
func (s *answerTokens) addResult() {
	if s.directlyAfter {
		s.clear()
	}
}
