package claudecode

import (
	"slices"

	"agentctl/discover"
)

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
	used, ok := l.answer()
	if !ok {
		return nil
	}
	c := l.call()
	i := slices.IndexFunc(a.recent[:], func(x answer) bool { return x.call == c })
	if i < 0 {
		i = a.next
		a.next = (i + 1) % len(a.recent)
		a.recent[i] = answer{call: c, usage: used}
	}
	return &a.recent[i]
}

// tokens are those of the answer, the first time.
func (x *answer) tokens() *discover.Tokens {
	if x == nil || x.told {
		return nil
	}
	x.told = true
	return x.usage.tokens()
}

// call names the answer that a record is part of.
func (l *line) call() call { return call{l.ID.Text(0), l.RequestID.Text(0)} }

// answer is what an answer of the model used; not ok of any other record, and of one without its usage.
func (l *line) answer() (used usage, ok bool) {
	if l.Type == "assistant" && !l.synthetic() {
		used = l.usage()
	}
	return used, used != usage{}
}
