package claudecode

import (
	"slices"

	"agentctl/discover"
)

// recentAnswers are the model's newest, and whether their tokens were told: one answer is stored as several records, of
// which the newest has the final usage.
type recentAnswers struct {
	recent [8]modelAnswer // of other answers, few records stand between those of one
	next   int
}

type modelAnswer struct {
	CallID
	usage    Usage
	reported bool
}

// CallID names an answer.
type CallID struct{ message, request string }

// find is the answer that a record is part of; nil of one that the model did not give.
func (a *recentAnswers) find(l *Line) *modelAnswer {
	used, ok := l.AnswerUsage()
	if !ok {
		return nil
	}
	c := l.CallID()
	i := slices.IndexFunc(a.recent[:], func(x modelAnswer) bool { return x.CallID == c })
	if i < 0 {
		i = a.next
		a.next = (i + 1) % len(a.recent)
		a.recent[i] = modelAnswer{CallID: c, usage: used}
	}
	return &a.recent[i]
}

// tokens are those of the answer, the first time.
func (x *modelAnswer) tokens() *discover.Tokens {
	if x == nil || x.reported {
		return nil
	}
	x.reported = true
	return x.usage.Tokens()
}

// CallID names the answer that a record is part of.
func (l *Line) CallID() CallID { return CallID{l.ID.Text(0), l.RequestID.Text(0)} }

// AnswerUsage is what an answer of the model used; not ok of any other record, and of one without its usage.
func (l *Line) AnswerUsage() (used Usage, ok bool) {
	if l.Type == "assistant" && !l.synthetic() {
		used = l.usage()
	}
	return used, used != Usage{}
}
