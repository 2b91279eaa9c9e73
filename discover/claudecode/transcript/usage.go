package transcript

import (
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// callUsage holds what the calls of a session used: those that are recorded, and what the agent itself says, which counts
// the calls, too, that it does not record (for titles, for summaries).
type callUsage struct {
	calls    map[CallID]timedUsage
	idBytes  int       // bytes of the calls' names
	overflow bool      // there are more calls than are held
	reported *Usage    // all until the agent said so last (cost-state, since 2.1.280); nil where it has not
	resumed  time.Time // when the session went on after that; zero if it did not
}

// timedUsage is what a call used, and when.
type timedUsage struct {
	Usage
	at time.Time
}

// maxCalls and maxNames bound the calls of one session, and the bytes of their names: some 70 MB in all.
const (
	maxCalls       = 1 << 18
	maxCallIDBytes = 32 << 20
)

// add takes what a call used; what was told of it before no longer counts.
func (g *callUsage) add(c CallID, s timedUsage) {
	if g.calls == nil {
		g.calls = map[CallID]timedUsage{}
	}
	before := len(g.calls)
	g.calls[c] = s
	if len(g.calls) == before {
		return
	}
	if g.idBytes += len(c.message) + len(c.request); len(g.calls) > maxCalls || g.idBytes > maxCallIDBytes {
		delete(g.calls, c)
		g.overflow = true
	}
}

// setReported takes the agent's own statement.
func (g *callUsage) setReported(raw []byte) {
	var sum Usage
	for _, model := range jsonl.Object(raw).Get("modelUsage").Object().Members() {
		sum.add(usageOf(model.Object()))
	}
	g.reported, g.resumed = &sum, time.Time{}
}

// recordTime takes the time of a record.
func (g *callUsage) recordTime(at jsonl.Value) {
	if g.needsTime() {
		g.resumed = at.Time()
	}
}

// needsTime reports whether the time of the next record matters.
func (g *callUsage) needsTime() bool { return g.reported != nil && g.resumed.IsZero() }

// sum is all that was used; not ok if nothing is known. A process that was killed has stated nothing, and the next one
// goes on from what was stated before: so of the calls until the statement, what is more counts.
func (g *callUsage) sum() (sum Usage, ok bool) {
	var before Usage
	for _, s := range g.calls {
		if g.reported != nil && (g.resumed.IsZero() || s.at.Before(g.resumed)) {
			before.add(s.Usage)
		} else {
			sum.add(s.Usage)
		}
	}
	if g.reported != nil {
		sum.add(before.max(*g.reported))
	}
	return sum, len(g.calls) > 0
}

func (u *Usage) add(v Usage) {
	u.In += v.In
	u.Out += v.Out
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Reasoning += v.Reasoning
}

// max is the larger one of each figure.
func (u Usage) max(v Usage) Usage {
	return Usage{
		max(u.In, v.In), max(u.Out, v.Out), max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite),
		max(u.Reasoning, v.Reasoning),
	}
}

// contextSize is the size of the context that a call was made with.
func (u Usage) contextSize() int64 { return u.In + u.CacheRead + u.CacheWrite }

// Tokens are those of one call of the model, or of several.
func (u Usage) Tokens() *discover.Tokens {
	return &discover.Tokens{
		In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Total: u.contextSize() + u.Out, Context: u.contextSize(),
	}
}

// compactedUsage is the context after a compaction, as the agent states it; nothing where it does not.
func compactedUsage(raw []byte) Usage {
	return Usage{In: jsonl.Object(raw).Get("compactMetadata").Object().Get("postTokens").Int()}
}

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
