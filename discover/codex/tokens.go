package codex

import (
	"cmp"
	"context"
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// inAndOut is the number of input and output tokens, by which two counts are compared.
func inAndOut(t discover.Tokens) int64 { return t.In + t.Out }

// isContextFull reports whether a count says that the context was full: only its total is set, to the size of the context window, and the
// counts start again.
func isContextFull(count discover.Tokens) bool { return inAndOut(count) == 0 && count.Total > 0 }

// usageAtEnd is the usage of a thread at the end of its rollout. Records come newest first. Codex records two totals of a thread, and each can
// miss something. The counts (token_count) lose an answer whose process was killed before its tool ended, and start again when the context is
// full. The records (token_usage_record, 0.160 and later) lack what an older version has used. Neither counts anything twice, so the larger
// one is used.
type usageAtEnd struct {
	records, counts discover.Tokens
	Any, Final      bool // something was used; older records can add nothing
	Context, Window int64

	newer       discover.Tokens // what was used after the counts started again, or is in no count yet
	largest     discover.Tokens // the largest count before that
	hasCount    bool            // a count has come
	hasRecord   bool            // a token_usage_record has come
	oldest      discover.Tokens // the total of the oldest one so far
	contextFull bool            // the counts start again here: the context was full
	hasSmaller  bool            // a count has come that is smaller than the largest one
	hasTurn     bool            // the beginning of a turn with a count has come
}

func (u *usageAtEnd) larger() discover.Tokens {
	total := u.counts
	if inAndOut(u.records) >= inAndOut(u.counts) {
		total = u.records
	}
	total.Total = inAndOut(total)
	return total
}

func (u *usageAtEnd) add(r *rolloutLine) {
	if u.Final {
		return
	}
	switch {
	case r.Kind == kindTokenUsage:
		u.addRecord(parseTokens(r.Get("usage").Object()), parseTokens(r.Get("thread_token_usage").Object()))
	case r.Kind == kindTokenCount:
		u.addCountInfo(r.Get("info").Object())
	case startsTurn(r.Kind):
		u.Window = cmp.Or(u.Window, r.Get("model_context_window").Int())
		u.hasTurn = u.hasCount
		u.finish()
	}
}

// addCountInfo adds the info of a token_count. It is null before the first answer.
func (u *usageAtEnd) addCountInfo(o storage.Object) {
	if !isObject(o) {
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
	if u.hasRecord && inAndOut(thread) >= inAndOut(u.oldest) {
		return // it is recorded twice
	}
	u.oldest = thread
	if !u.hasCount {
		u.newer = u.newer.Plus(answer)
		u.counts = u.newer
		u.Context = cmp.Or(u.Context, answer.Total)
	}
	if !u.hasRecord {
		u.Any, u.hasRecord, u.records = true, true, thread
	}
	u.Final = u.hasCount && !u.contextFull
}

// addCount adds the thread's count, which is often recorded twice.
func (u *usageAtEnd) addCount(t discover.Tokens) {
	switch first := !u.hasCount || u.contextFull; {
	case isContextFull(t):
		if !first {
			u.newer = u.newer.Plus(u.largest)
		}
		u.largest, u.Any, u.hasCount, u.contextFull, u.hasSmaller, u.hasTurn = discover.Tokens{}, true, true, true, false, false
	case inAndOut(t) > 0:
		u.hasSmaller = u.hasSmaller || inAndOut(t) < inAndOut(u.largest)
		u.largest = u.largest.Max(t)
		u.Any, u.hasCount, u.contextFull = true, true, false
		u.Final = first && u.hasRecord && t.Total == inAndOut(t)
		u.finish()
	}
	u.counts = u.newer.Plus(u.largest)
}

// finish ends the search at a smaller count, which is of an older answer, and before the turn of the larger one: within a turn it can be an
// older count that was recorded again. Where the total has more than input and output, the context was full before.
func (u *usageAtEnd) finish() {
	u.Final = u.Final || u.hasTurn && u.hasSmaller && u.largest.Total == inAndOut(u.largest)
}

// isObject reports whether a member is there and not null.
func isObject(o storage.Object) bool { return len(o) > 0 && o[0] == '{' }

// parseTokens parses a usage. Input includes what was read from the cache, as Codex counts it. A number that is missing or negative is 0.
func parseTokens(o storage.Object) discover.Tokens {
	t := discover.Tokens{
		In: o.Get("input_tokens").Int(), Out: o.Get("output_tokens").Int(),
		CacheRead: o.Get("cached_input_tokens").Int(), CacheWrite: o.Get("cache_write_input_tokens").Int(),
		Reasoning: o.Get("reasoning_output_tokens").Int(), Total: o.Get("total_tokens").Int(),
	}
	t.Total = cmp.Or(t.Total, inAndOut(t))
	return t
}

// parseAnswerTokens parses the usage of one answer. It is nil if nothing was used: so the agent records an estimate of the context.
func parseAnswerTokens(o storage.Object) *discover.Tokens {
	t := parseTokens(o)
	if inAndOut(t) == 0 {
		return nil
	}
	return &t
}

// allRollouts lists all rollouts of a thread that was last used at the given time. The error names those that are missing.
func allRollouts(ctx context.Context, home, id string, last time.Time) ([]discover.Entry, error) {
	made, ok := threadCreated(id)
	if !ok {
		return nil, nil
	}
	s := newHomeScan(ctx, home)
	s.walk(dayRange{made.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 0, 1).UTC().Format(dayLayout)}, func(name rolloutName) bool { return name.id == id })
	return s.Found, errors.Join(s.Warnings...)
}
