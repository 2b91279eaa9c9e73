package codex

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Codex keeps two books of what a thread has used, and each can miss something: its counts (token_count) lose an answer
// whose process was killed before its tool ended, and begin anew when the context is found to be full; its records
// (token_usage_record, 0.160 and later) do not know what an older version has used. Neither counts anything twice. So
// both are read, and the one that knows of more is believed.
type books struct {
	records, counts discover.Tokens
}

// best is the fuller of the two books.
func (b books) best() discover.Tokens {
	if used(b.records) >= used(b.counts) {
		return b.records
	}
	return b.counts
}

func used(t discover.Tokens) int64 { return t.In + t.Out }

// less is what was used since the books stood at that.
func (b books) less(then books) books {
	return books{minus(b.records, then.records), minus(b.counts, then.counts)}
}

func plus(a, b discover.Tokens) discover.Tokens { return combined(a, b, 1) }

func minus(a, b discover.Tokens) discover.Tokens { return combined(a, b, -1) }

func combined(a, b discover.Tokens, sign int64) discover.Tokens {
	return discover.Tokens{
		In: a.In + sign*b.In, Out: a.Out + sign*b.Out, CacheRead: a.CacheRead + sign*b.CacheRead, CacheWrite: a.CacheWrite + sign*b.CacheWrite,
		Reasoning: a.Reasoning + sign*b.Reasoning, Total: a.Total + sign*b.Total,
	}
}

// usage finds how the books of a thread stand from the records of its rollout, newest first.
type usage struct {
	books
	begun, settled  bool // something was used; nothing older can add to it
	context, window int64
	limits          limits
	limited         bool // they are asked for

	last     discover.Tokens // the newest count
	counted  bool            // there is one
	recorded bool            // there is a record
	full     bool            // the counts begin here: the context was full
}

// see takes the next older record.
func (u *usage) see(r *record) {
	if u.settled {
		return
	}
	switch r.is {
	case tokenRecord:
		u.record(tokens(r.get("usage").Object()), tokens(r.get("thread_token_usage").Object()))
	case tokenCount:
		if u.limited {
			u.limits.count(r)
		}
		u.info(r.get("info").Object())
	case turnStarted:
		u.window = cmp.Or(u.window, r.get("model_context_window").Int())
	case turnCompleted:
		if u.limited {
			u.limits.failed(r)
		}
	}
}

// info takes what a count says; nothing, if no answer had come yet.
func (u *usage) info(o native.Object) {
	if len(o) == 0 || o[0] != '{' {
		u.settled = u.counted && !u.full
		return
	}
	u.window = cmp.Or(u.window, o.Get("model_context_window").Int())
	u.context = cmp.Or(u.context, tokens(o.Get("last_token_usage").Object()).Total)
	u.count(tokens(o.Get("total_token_usage").Object()))
}

// record takes what an answer used and what the thread has used with it. The count follows it, if only after the tools
// that the answer called.
func (u *usage) record(answer, thread discover.Tokens) {
	if !u.counted {
		u.counts = plus(u.counts, answer)
		u.context = cmp.Or(u.context, answer.Total)
	}
	if !u.recorded {
		u.begun, u.recorded, u.records = true, true, thread
	}
	u.settled = u.counted && !u.full
}

// count takes what the thread has used by the agent's count. It is often given twice. Where nothing but a total is
// stated, the context was full, and that total is the window's.
func (u *usage) count(t discover.Tokens) {
	switch full := used(t) == 0 && t.Total > 0; {
	case full && u.counted && !u.full:
		u.counts.Total -= t.Total
		u.begun, u.full = true, true
	case full:
		u.begun, u.counted, u.full = true, true, true
	case !u.counted || u.full:
		u.counts = plus(u.counts, t)
		u.begun, u.counted, u.full, u.last = true, true, false, t
		u.settled = u.recorded && t.Total == used(t)
	case t != u.last && u.last.Total == used(u.last):
		u.settled = true // an answer without a record: there are none
	}
}

// end takes the beginning of the file: nothing older follows.
func (u *usage) end() { u.settled = true }

// tokens reads a usage. Input includes what was read from the cache, as Codex counts it.
func tokens(o native.Object) discover.Tokens {
	return discover.Tokens{
		In: o.Get("input_tokens").Int(), Out: o.Get("output_tokens").Int(),
		CacheRead: o.Get("cached_input_tokens").Int(), CacheWrite: o.Get("cache_write_input_tokens").Int(),
		Reasoning: o.Get("reasoning_output_tokens").Int(), Total: o.Get("total_tokens").Int(),
	}
}

// ofAnswer is the usage of one answer; nil if none was used, which is how the agent records an estimate of the context.
func ofAnswer(o native.Object) *discover.Tokens {
	t := tokens(o)
	if used(t) == 0 {
		return nil
	}
	return &t
}
