package transcript

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// callUsage adds up what the calls of the model in a session used: the recorded calls, and the totals that the agent
// reports, which include calls that are not recorded (for titles, for summaries).
type callUsage struct {
	calls    map[CallID]timedUsage
	idBytes  int       // the bytes of all CallIDs
	overflow bool      // there are more calls than the bounds allow
	newest   time.Time // the time of the newest call
	reports  []report  // the totals that the agent reported (cost-state, since 2.1.280), oldest first
}

// timedUsage is what a call used, and when it was recorded.
type timedUsage struct {
	Usage
	at    time.Time
	model string
}

// maxCalls and maxCallIDBytes bound the calls of one session and the bytes of their IDs: some 70 MB in all.
const (
	maxCalls       = 1 << 18
	maxCallIDBytes = 32 << 20
)

// add takes what a call used. It replaces an earlier record of the same call.
func (g *callUsage) add(c CallID, s timedUsage) {
	if g.calls == nil {
		g.calls = map[CallID]timedUsage{}
	}
	if s.at.After(g.newest) {
		g.newest = s.at
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

// addAnswer takes what an answer used.
func (g *callUsage) addAnswer(l *Record, used Usage) {
	g.add(l.CallID(), timedUsage{used, l.Timestamp.Time(), l.Model.Text(0)})
}

// sum returns the total. ok is false if nothing is known. A killed process reports nothing, and the next one continues from
// the last report; so of the calls before a report, their sum counts if it is larger than the report.
func (g *callUsage) sum() (sum Usage, ok bool) {
	var before Usage
	for _, s := range g.calls {
		if g.isReported(s.at) {
			before.add(s.Usage)
		} else {
			sum.add(s.Usage)
		}
	}
	if last := g.lastReport(); last != nil {
		before = before.max(last.total)
	}
	sum.add(before)
	return sum, len(g.calls) > 0
}

func (u *Usage) add(v Usage) {
	u.In += v.In
	u.Out += v.Out
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Reasoning += v.Reasoning
}

// max returns the larger value of each figure.
func (u Usage) max(v Usage) Usage {
	return Usage{
		max(u.In, v.In), max(u.Out, v.Out), max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite),
		max(u.Reasoning, v.Reasoning),
	}
}

// minus returns the difference of each figure.
func (u Usage) minus(v Usage) Usage {
	return Usage{u.In - v.In, u.Out - v.Out, u.CacheRead - v.CacheRead, u.CacheWrite - v.CacheWrite, u.Reasoning - v.Reasoning}
}

// contextSize is the size of the context of a call.
func (u Usage) contextSize() int64 { return u.In + u.CacheRead + u.CacheWrite }

// Tokens converts u.
func (u Usage) Tokens() *discover.Tokens {
	return &discover.Tokens{
		In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Total: u.contextSize() + u.Out, Context: u.contextSize(),
	}
}

// compactedUsage returns the context after a compaction as the agent reports it; zero if it does not.
func compactedUsage(raw []byte) Usage {
	return Usage{In: jsonl.Object(raw).Get("compactMetadata").Object().Get("postTokens").Int()}
}

// CallID identifies a call of the model.
type CallID struct{ message, request string }

// CallID identifies the call that a record is part of.
func (l *Record) CallID() CallID { return CallID{l.ID.Text(0), l.RequestID.Text(0)} }

// AnswerUsage returns what an answer of the model used. ok is false for other records, and without a usage.
func (l *Record) AnswerUsage() (used Usage, ok bool) {
	if l.Type == "assistant" && !l.synthetic() {
		used = l.usage()
	}
	return used, used != Usage{}
}
