package copilot

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadUsage implements [discover.Adapter]. What a fork has of the session that it was copied from is that one's.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return discover.ReadUsages(ctx, entries, readerOf(discover.ReadOptions{Tokens: true}))
}

// totals is what a session used.
//
// Since 1.0.102 each answer of the model has a record, sub-agents' too. Before that, only a process that ends well records what was used:
// since 1.0.82 by all processes so far, in 1.0.12 by itself.
type totals struct {
	usage []discover.Usage
	// stated is what the processes that ended before the first such record state, by model; statedAt is when. open: an answer has
	// come since, so that it is not all.
	stated   map[string]discover.Tokens
	statedAt time.Time
	recorded bool
	open     bool
	// context is the size of the context, window the most that the model takes.
	context, window int64
	// premium and credits are what the provider was paid in.
	premium, credits any
	damage           storage.Damage
}

// Read reads the whole file.
func (t *totals) Read(f *storage.File) error {
	_, err := f.Records(0, func(l storage.Line) bool {
		if l.Cut {
			return true
		}
		e, ok := parseEvent(l.Bytes)
		if l.Rest || !ok {
			t.damage.Add(l)
			return true
		}
		t.add(&e)
		return true
	})
	return err
}

func (t *totals) add(e *event) {
	switch e.Type {
	case sessionInfo:
		if forkOrigin(e.Data) != "" { // all before it are copies
			*t = totals{context: t.context, window: t.window, damage: t.damage}
		}
	case usageRecord:
		used := e.Data.Get("usage").Object()
		t.recorded = true
		if !e.ofSubagent() {
			t.context, t.window = used.Get("inputTokens").Int(), used.Get("maxPromptTokens").Int()
		}
		t.addAnswer(e, used)
	case compacted:
		if used := e.Data.Get("compactionTokensUsed").Object(); len(used) > 0 && used[0] == '{' { // it has no record of its own
			t.addAnswer(e, used)
		}
		if tokens := e.Data.Get("postCompactionTokens").Int(); tokens > 0 && !e.ofSubagent() {
			t.context = tokens
		}
	case assistantText:
		t.open = true
	case sessionShutdown:
		t.addShutdown(e)
	}
}

func (t *totals) addAnswer(e *event, used storage.Object) {
	t.usage = append(t.usage, discover.Usage{Time: e.time(), Model: used.Get("model").Text(textLimit), Tokens: tokensOf(used)})
}

// addShutdown takes what a process states that ends.
func (t *totals) addShutdown(e *event) {
	if tokens := e.Data.Get("currentTokens").Int(); tokens > 0 {
		t.context = tokens
	}
	t.premium = number(e.Data.Get("totalPremiumRequests"))
	t.credits = number(e.Data.Get("totalNanoAiu"))
	t.open = false
	if t.recorded {
		return
	}
	if t.stated == nil || e.Data.Get("totalNanoAiu") != nil { // of all processes so far
		t.stated = map[string]discover.Tokens{}
	}
	t.statedAt = e.time()
	for model, metrics := range e.Data.Get("modelMetrics").Object().Members() {
		if name := string(model); len(t.stated) < maxModels && len(name) <= textLimit {
			t.stated[name] = t.stated[name].Plus(tokensOf(metrics.Object().Get("usage").Object()))
		}
	}
}

// maxModels bounds the models of a session.
const maxModels = 100

// number returns a number; nil if it is none or zero.
func number(v storage.Value) any {
	if f := v.Float(); f > 0 {
		return f
	}
	return nil
}

// tokensOf parses counts of tokens. The agent's inputTokens include what was read from the cache and written to it (SEEN 1.0.102),
// its outputTokens the reasoning.
func tokensOf(o storage.Object) discover.Tokens {
	t := discover.Tokens{
		Out: o.Get("outputTokens").Int(), CacheRead: o.Get("cacheReadTokens").Int(), CacheWrite: o.Get("cacheWriteTokens").Int(),
		Reasoning: o.Get("reasoningTokens").Int(),
	}
	in := o.Get("inputTokens").Int()
	t.In = max(0, in-t.CacheRead-t.CacheWrite)
	t.Total = t.In + t.CacheRead + t.CacheWrite + t.Out
	return t
}

// fill sets what the session used.
func (t *totals) fill(u *discover.SessionUsage, full bool) {
	for _, model := range slices.Sorted(maps.Keys(t.stated)) {
		if tokens := t.stated[model]; tokens.Total > 0 {
			u.Usage = append(u.Usage, discover.Usage{Time: t.statedAt, From: u.Created, Model: model, Tokens: tokens})
		}
	}
	u.Usage = append(u.Usage, t.usage...)
	var sum discover.Tokens
	for _, used := range u.Usage {
		sum = sum.Plus(used.Tokens)
	}
	if len(u.Usage) > 0 && (t.recorded || !t.open) {
		sum.Context, sum.Window = t.context, t.window
		u.Tokens = &sum
	}
	if full {
		u.SetMeta("premiumRequests", t.premium)
		u.SetMeta("nanoAiCredits", t.credits)
	}
}
