package claudecode

import "agentctl/discover"

// answers are the model's newest, and whether their tokens were told: one answer is stored as several records, of
// which the newest has the final usage.
type answers struct {
	recent [8]answer // of other answers, few records stand between those of one
	next   int
}

type answer struct {
	call
	usage usage
	told  bool
}

// call names an answer.
type call struct{ message, request string }

// of is the answer that a record is part of; nil of one that the model did not give.
func (a *answers) of(l *line) *answer {
	if !l.answers() {
		return nil
	}
	c := call{l.ID.Text(0), l.RequestID.Text(0)}
	for i := range a.recent {
		if a.recent[i].call == c {
			return &a.recent[i]
		}
	}
	x := &a.recent[a.next]
	a.next = (a.next + 1) % len(a.recent)
	*x = answer{call: c, usage: l.usage()}
	return x
}

// tokens are those of the answer, the first time.
func (x *answer) tokens() *discover.Tokens {
	if x == nil || x.told {
		return nil
	}
	x.told = true
	return x.usage.tokens()
}

// answers reports whether a record is part of an answer of the model, and has its usage.
func (l *line) answers() bool {
	return l.Type == "assistant" && !l.synthetic() && l.usage() != (usage{})
}
