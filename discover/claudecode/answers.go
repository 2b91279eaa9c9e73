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

// of is the answer that a record is part of; nil of one that the model did not give.
func (a *answers) of(l line) *answer {
	if l.Model == synthetic || l.Usage == (usage{}) {
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
	*x = answer{call: c, usage: l.Usage}
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

// tokens are those of one call of the model.
func (u usage) tokens() *discover.Tokens {
	context := u.In + u.CacheRead + u.CacheWrite
	return &discover.Tokens{
		In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Total: context + u.Out, Context: context,
	}
}
