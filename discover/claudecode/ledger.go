package claudecode

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// ledger holds what the calls of a session used: those that are recorded, and what the agent itself says, which counts
// the calls, too, that it does not record (for titles, for summaries).
type ledger struct {
	calls  map[call]spent
	names  int       // bytes of the calls' names
	full   bool      // there are more calls than are held
	stated *usage    // all until the agent said so last (cost-state, since 2.1.280); nil where it has not
	went   time.Time // when the session went on after that; zero if it did not
}

// spent is what a call used, and when.
type spent struct {
	usage
	at time.Time
}

// maxCalls and maxNames bound the calls of one session, and the bytes of their names: some 70 MB in all.
const (
	maxCalls = 1 << 18
	maxNames = 32 << 20
)

// put takes what a call used; what was told of it before no longer counts.
func (g *ledger) put(c call, s spent) {
	if g.calls == nil {
		g.calls = map[call]spent{}
	}
	before := len(g.calls)
	g.calls[c] = s
	if len(g.calls) == before {
		return
	}
	if g.names += len(c.message) + len(c.request); len(g.calls) > maxCalls || g.names > maxNames {
		delete(g.calls, c)
		g.full = true
	}
}

// state takes the agent's own statement.
func (g *ledger) state(raw []byte) {
	var sum usage
	for _, model := range native.Object(raw).Get("modelUsage").Object().Members() {
		sum.add(usageOf(model.Object()))
	}
	g.stated, g.went = &sum, time.Time{}
}

// goOn takes the time of a record.
func (g *ledger) goOn(at native.Value) {
	if g.waits() {
		g.went = at.Time()
	}
}

// waits reports whether the time of the next record matters.
func (g *ledger) waits() bool { return g.stated != nil && g.went.IsZero() }

// sum is all that was used; not ok if nothing is known. A process that was killed has stated nothing, and the next one
// goes on from what was stated before: so of the calls until the statement, what is more counts.
func (g *ledger) sum() (sum usage, ok bool) {
	var before usage
	for _, s := range g.calls {
		if g.stated != nil && (g.went.IsZero() || s.at.Before(g.went)) {
			before.add(s.usage)
		} else {
			sum.add(s.usage)
		}
	}
	if g.stated != nil {
		sum.add(before.max(*g.stated))
	}
	return sum, len(g.calls) > 0
}

func (u *usage) add(v usage) {
	u.In += v.In
	u.Out += v.Out
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Reasoning += v.Reasoning
}

// max is the larger one of each figure.
func (u usage) max(v usage) usage {
	return usage{
		max(u.In, v.In), max(u.Out, v.Out), max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite),
		max(u.Reasoning, v.Reasoning),
	}
}

// context is the size of the context that a call was made with.
func (u usage) context() int64 { return u.In + u.CacheRead + u.CacheWrite }

// tokens are those of one call of the model, or of several.
func (u usage) tokens() *discover.Tokens {
	return &discover.Tokens{
		In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Total: u.context() + u.Out, Context: u.context(),
	}
}

// compacted is the context after a compaction, as the agent states it; nothing where it does not.
func compacted(raw []byte) usage {
	return usage{In: native.Object(raw).Get("compactMetadata").Object().Get("postTokens").Int()}
}
