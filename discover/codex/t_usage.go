package codex

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// twoTotals are the two totals that Codex records of a thread. Each can miss something. The counts (token_count) lose an answer whose
// process was killed before its tool ended, and start again when the context is full. The records (token_usage_record, 0.160 and
// later) lack what an older version has used. Neither counts anything twice, so the larger one is used.
type twoTotals struct {
	records, counts discover.Tokens
}

// larger is the larger total.
func (b twoTotals) larger() discover.Tokens {
	if inAndOut(b.records) >= inAndOut(b.counts) {
		return b.records
	}
	return b.counts
}

// inAndOut is the number of input and output tokens, by which two counts are compared.
func inAndOut(t discover.Tokens) int64 { return t.In + t.Out }

// minus is what was used since the totals were then.
func (b twoTotals) minus(then twoTotals) twoTotals {
	return twoTotals{subtractTokens(b.records, then.records), subtractTokens(b.counts, then.counts)}
}

// addTokens is the sum of two usages.
func addTokens(a, b discover.Tokens) discover.Tokens { return addScaled(a, b, 1) }

// subtractTokens is the difference of two usages.
func subtractTokens(a, b discover.Tokens) discover.Tokens { return addScaled(a, b, -1) }

func addScaled(a, b discover.Tokens, sign int64) discover.Tokens {
	return discover.Tokens{
		In: a.In + sign*b.In, Out: a.Out + sign*b.Out, CacheRead: a.CacheRead + sign*b.CacheRead, CacheWrite: a.CacheWrite + sign*b.CacheWrite,
		Reasoning: a.Reasoning + sign*b.Reasoning, Total: a.Total + sign*b.Total,
	}
}

// usageAtEnd is the usage of a thread at the end of its rollout. Records come newest first.
type usageAtEnd struct {
	twoTotals
	Any, Final      bool // something was used; older records can add nothing
	Context, Window int64
	quotas          quotaFinder
	wantQuotas      bool // quotas are read

	lastCount   discover.Tokens // the newest count
	hasCount    bool            // a count has come
	hasRecord   bool            // a token_usage_record has come
	contextFull bool            // the counts start again here: the context was full
}

// add adds the next older record.
func (u *usageAtEnd) add(r *rolloutRecord) {
	if u.Final {
		return
	}
	switch r.Kind {
	case kindTokenUsage:
		u.addRecord(parseTokens(r.Get("usage").Object()), parseTokens(r.Get("thread_token_usage").Object()))
	case kindTokenCount:
		if u.wantQuotas {
			u.quotas.addCount(r)
		}
		u.addCountInfo(r.Get("info").Object())
	case kindTurnStarted:
		u.Window = cmp.Or(u.Window, r.Get("model_context_window").Int())
	case kindTurnCompleted:
		if u.wantQuotas {
			u.quotas.addFailure(r)
		}
	}
}

// addCountInfo adds the info of a token_count. It is null before the first answer.
func (u *usageAtEnd) addCountInfo(o jsonl.Object) {
	if len(o) == 0 || o[0] != '{' {
		u.Final = u.hasCount && !u.contextFull
		return
	}
	u.Window = cmp.Or(u.Window, o.Get("model_context_window").Int())
	u.Context = cmp.Or(u.Context, parseTokens(o.Get("last_token_usage").Object()).Total)
	u.addCount(parseTokens(o.Get("total_token_usage").Object()))
}

// addRecord adds the tokens of an answer and the thread's total with it. The count that includes them comes later in the file, possibly
// after the tools that the answer called.
func (u *usageAtEnd) addRecord(answer, thread discover.Tokens) {
	if !u.hasCount {
		u.counts = addTokens(u.counts, answer)
		u.Context = cmp.Or(u.Context, answer.Total)
	}
	if !u.hasRecord {
		u.Any, u.hasRecord, u.records = true, true, thread
	}
	u.Final = u.hasCount && !u.contextFull
}

// addCount adds the thread's count, which is often recorded twice. If only its total is set, the context was full, and the total is the
// size of the context window.
func (u *usageAtEnd) addCount(t discover.Tokens) {
	switch full := inAndOut(t) == 0 && t.Total > 0; {
	case full && u.hasCount && !u.contextFull:
		u.counts.Total -= t.Total
		u.Any, u.contextFull = true, true
	case full:
		u.Any, u.hasCount, u.contextFull = true, true, true
	case !u.hasCount || u.contextFull:
		u.counts = addTokens(u.counts, t)
		u.Any, u.hasCount, u.contextFull, u.lastCount = true, true, false, t
		u.Final = u.hasRecord && t.Total == inAndOut(t)
	case t != u.lastCount && u.lastCount.Total == inAndOut(u.lastCount):
		u.Final = true // an answer without a token_usage_record: there are no older ones
	}
}

// Quotas are the provider's limits, if they were asked for.
func (u *usageAtEnd) Quotas() []discover.Quota { return u.quotas.list() }

// reachedStart ends the search at the beginning of the file.
func (u *usageAtEnd) reachedStart() { u.Final = true }

// parseTokens parses a usage. Input includes what was read from the cache, as Codex counts it.
func parseTokens(o jsonl.Object) discover.Tokens {
	return discover.Tokens{
		In: o.Get("input_tokens").Int(), Out: o.Get("output_tokens").Int(),
		CacheRead: o.Get("cached_input_tokens").Int(), CacheWrite: o.Get("cache_write_input_tokens").Int(),
		Reasoning: o.Get("reasoning_output_tokens").Int(), Total: o.Get("total_tokens").Int(),
	}
}

// parseAnswerTokens parses the usage of one answer. It is nil if nothing was used: so the agent records an estimate of the context.
func parseAnswerTokens(o jsonl.Object) *discover.Tokens {
	t := parseTokens(o)
	if inAndOut(t) == 0 {
		return nil
	}
	return &t
}
