package transcript

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// Codex keeps two books of what a thread has used, and each can miss something: its counts (token_count) lose an answer
// whose process was killed before its tool ended, and begin anew when the context is found to be full; its records
// (token_usage_record, 0.160 and later) do not know what an older version has used. Neither counts anything twice. So
// both are read, and the one that knows of more is believed.
type Totals struct {
	records, counts discover.Tokens
}

// larger is the fuller of the two books.
func (b Totals) larger() discover.Tokens {
	if InAndOut(b.records) >= InAndOut(b.counts) {
		return b.records
	}
	return b.counts
}

// InAndOut is the number of input and output tokens, by which two counts are compared.
func InAndOut(t discover.Tokens) int64 { return t.In + t.Out }

// minus is what was used since the books stood at that.
func (b Totals) minus(then Totals) Totals {
	return Totals{subtractTokens(b.records, then.records), subtractTokens(b.counts, then.counts)}
}

// AddTokens is the sum of two usages.
func AddTokens(a, b discover.Tokens) discover.Tokens { return addScaled(a, b, 1) }

func subtractTokens(a, b discover.Tokens) discover.Tokens { return addScaled(a, b, -1) }

func addScaled(a, b discover.Tokens, sign int64) discover.Tokens {
	return discover.Tokens{
		In: a.In + sign*b.In, Out: a.Out + sign*b.Out, CacheRead: a.CacheRead + sign*b.CacheRead, CacheWrite: a.CacheWrite + sign*b.CacheWrite,
		Reasoning: a.Reasoning + sign*b.Reasoning, Total: a.Total + sign*b.Total,
	}
}

// Usage finds how the books of a thread stand from the records of its rollout, newest first.
type Usage struct {
	Totals
	Any, Final      bool // something was used; nothing older can add to it
	Context, Window int64
	quotas          quotaFinder
	wantQuotas      bool // they are asked for

	lastCount   discover.Tokens // the newest count
	hasCount    bool            // there is one
	hasRecord   bool            // there is a record
	contextFull bool            // the counts begin here: the context was full
}

// add takes the next older record.
func (u *Usage) add(r *Record) {
	if u.Final {
		return
	}
	switch r.Kind {
	case TokenUsageRecord:
		u.addRecord(parseTokens(r.Get("usage").Object()), parseTokens(r.Get("thread_token_usage").Object()))
	case TokenCount:
		if u.wantQuotas {
			u.quotas.addCount(r)
		}
		u.addCountInfo(r.Get("info").Object())
	case TurnStarted:
		u.Window = cmp.Or(u.Window, r.Get("model_context_window").Int())
	case TurnCompleted:
		if u.wantQuotas {
			u.quotas.addFailure(r)
		}
	}
}

// addCountInfo takes what a count says; nothing, if no answer had come yet.
func (u *Usage) addCountInfo(o jsonl.Object) {
	if len(o) == 0 || o[0] != '{' {
		u.Final = u.hasCount && !u.contextFull
		return
	}
	u.Window = cmp.Or(u.Window, o.Get("model_context_window").Int())
	u.Context = cmp.Or(u.Context, parseTokens(o.Get("last_token_usage").Object()).Total)
	u.addCount(parseTokens(o.Get("total_token_usage").Object()))
}

// addRecord takes what an answer used and what the thread has used with it. The count follows it, if only after the tools
// that the answer called.
func (u *Usage) addRecord(answer, thread discover.Tokens) {
	if !u.hasCount {
		u.counts = AddTokens(u.counts, answer)
		u.Context = cmp.Or(u.Context, answer.Total)
	}
	if !u.hasRecord {
		u.Any, u.hasRecord, u.records = true, true, thread
	}
	u.Final = u.hasCount && !u.contextFull
}

// addCount takes what the thread has used by the agent's count. It is often given twice. Where nothing but a total is
// stated, the context was full, and that total is the window's.
func (u *Usage) addCount(t discover.Tokens) {
	switch full := InAndOut(t) == 0 && t.Total > 0; {
	case full && u.hasCount && !u.contextFull:
		u.counts.Total -= t.Total
		u.Any, u.contextFull = true, true
	case full:
		u.Any, u.hasCount, u.contextFull = true, true, true
	case !u.hasCount || u.contextFull:
		u.counts = AddTokens(u.counts, t)
		u.Any, u.hasCount, u.contextFull, u.lastCount = true, true, false, t
		u.Final = u.hasRecord && t.Total == InAndOut(t)
	case t != u.lastCount && u.lastCount.Total == InAndOut(u.lastCount):
		u.Final = true // an answer without a record: there are none
	}
}

// Quotas are the limits of the provider, if they were asked for.
func (u *Usage) Quotas() []discover.Quota { return u.quotas.list() }

// reachedStart takes the beginning of the file: nothing older follows.
func (u *Usage) reachedStart() { u.Final = true }

// parseTokens reads a usage. Input includes what was read from the cache, as Codex counts it.
func parseTokens(o jsonl.Object) discover.Tokens {
	return discover.Tokens{
		In: o.Get("input_tokens").Int(), Out: o.Get("output_tokens").Int(),
		CacheRead: o.Get("cached_input_tokens").Int(), CacheWrite: o.Get("cache_write_input_tokens").Int(),
		Reasoning: o.Get("reasoning_output_tokens").Int(), Total: o.Get("total_tokens").Int(),
	}
}

// parseAnswerTokens is the usage of one answer; nil if none was used, which is how the agent records an estimate of the context.
func parseAnswerTokens(o jsonl.Object) *discover.Tokens {
	t := parseTokens(o)
	if InAndOut(t) == 0 {
		return nil
	}
	return &t
}
