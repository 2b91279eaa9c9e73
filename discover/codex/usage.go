package codex

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadUsage reads whole rollouts. Each thread has its own tokens, without those of sub-agents: nothing if they are not known.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for t, err := range readThreads(ctx, entries, readOptions{discover.ReadOptions{Tokens: true}, true}) {
			if err != nil && !yield(nil, err) {
				return
			}
			if t.Tokens == nil {
				continue
			}
			if used := addRest(t.answers, &t.Record); len(used) > 0 && !yield(&discover.SessionUsage{Record: t.Record, Usage: used}, nil) {
				return
			}
		}
	}
}

// addRest adds to the answers what only the thread's total has, as after a damaged record, and was used at some time.
func addRest(answers answerList, r *discover.Record) []discover.Usage {
	rest := r.Tokens.Minus(answers.sum)
	if min(rest.In, rest.Out, rest.CacheRead, rest.CacheWrite, rest.Reasoning) < 0 { // the rollout went on meanwhile, or contradicts itself
		answers.all, rest = nil, *r.Tokens
	}
	if inAndOut(rest) == 0 {
		return answers.all
	}
	return append(answers.all, discover.Usage{From: r.Created, Time: r.Updated, Tokens: disjoint(rest)})
}

// readAnswers returns the answers in all rollouts of the thread, and their sum. They include those that the user took back by editing an
// earlier prompt: such an edit begins another rollout of the same thread (SEEN 0.169).
func (s *storedThread) readAnswers(f *storage.File, h *rolloutHead, e discover.Entry) (list answerList, err error) {
	rollouts := []discover.Entry{e}
	if segmentOf(e) != "" {
		if rollouts, err = allRollouts(f.Context(), e.Home, s.ID, s.fileTime); err != nil {
			return list, err
		}
	}
	for _, rollout := range rollouts {
		var answers answerList
		if rollout.Path == e.Path {
			var damage storage.Damage
			answers, damage, err = readRollout(f, h, s.ID)
			s.setDamage(f, damage)
		} else {
			answers, err = readOtherRollout(f.Context(), rollout.Path, s.ID)
		}
		if err != nil {
			return list, warn(rollout.Path, fmt.Errorf("the session's tokens are unknown: %w", storage.WithoutPath(rollout.Path, err)))
		}
		list = answerList{append(list.all, answers.all...), list.sum.Plus(answers.sum)}
	}
	return list, nil
}

// readOtherRollout is readRollout for another rollout of the thread.
func readOtherRollout(ctx context.Context, path, thread string) (answerList, error) {
	f, h, err := openSegment(ctx, path, thread)
	if err != nil {
		return answerList{}, err
	}
	defer f.Close()
	answers, _, err := readRollout(f, &h, thread)
	return answers, err
}

// readRollout returns the answers in one rollout without those that it has inherited, by the larger one of the two totals that Codex records
// (see [usageAtEnd]).
func readRollout(f *storage.File, h *rolloutHead, thread string) (answers answerList, damage storage.Damage, err error) {
	x := answerReader{own: newOwnTurn(thread), isFirst: true}
	if !h.MayInherit() {
		x.own, x.isFirst = ownTurn{found: true}, false
	}
	_, err = f.Parse(0, parser(func() string { return thread }, x.addLine))
	switch {
	case x.own.copied && !x.own.found:
	case inAndOut(x.records.sum) >= inAndOut(x.counts.sum):
		answers = x.records
	default:
		answers = x.counts
	}
	return answers, x.damage, err
}

// disjoint converts Codex's counts: its input includes what was read from the cache and written to it.
func disjoint(t discover.Tokens) discover.Tokens {
	t.In = max(t.In-t.CacheRead-t.CacheWrite, 0)
	t.Total, t.Context, t.Window = t.In+t.CacheRead+t.CacheWrite+t.Out, 0, 0
	return t
}

// answerList is a list of answers, and their sum as Codex counts it.
type answerList struct {
	all []discover.Usage
	sum discover.Tokens
}

func (a *answerList) add(at time.Time, model string, used discover.Tokens) {
	if inAndOut(used) > 0 {
		a.all, a.sum = append(a.all, discover.Usage{Time: at, Model: model, Tokens: disjoint(used)}), a.sum.Plus(used)
	}
}

// answerReader reads the answers of a rollout. Records come oldest first.
type answerReader struct {
	records, counts answerList
	own             ownTurn
	model           string          // of the turn
	count           discover.Tokens // the largest count since the counts started, or that which is inherited
	record          discover.Tokens // the thread's total in the newest token_usage_record
	isFirst         bool            // the next count is the first one, and may contain what is inherited
	answered        bool            // an answer has come
	damage          storage.Damage
}

func (a *answerReader) addLine(l storage.Line, r *rolloutLine) bool {
	if l.Rest {
		a.damage.Add(l)
	}
	if l.Rest || l.Cut {
		return true
	}
	if a.own.begins(r, l) {
		a.records, a.counts, a.answered = answerList{}, answerList{}, false
	}
	switch {
	case r.Kind == kindTurnContext:
		a.model = r.Get("model").Text(0)
	case r.Kind == kindTokenUsage:
		a.addRecord(r)
	case r.Kind == kindTokenCount:
		a.addCount(r, r.Get("info").Object())
	case r.Kind.FromModel() || r.Kind == kindAgentText:
		a.answered = true
	}
	return true
}

// addRecord adds a token_usage_record, which may be recorded twice.
func (a *answerReader) addRecord(r *rolloutLine) {
	a.answered = true
	if total := parseTokens(r.Get("thread_token_usage").Object()); inAndOut(total) > inAndOut(a.record) {
		a.record = total
		a.records.add(r.Time(), a.model, parseTokens(r.Get("usage").Object()))
	}
}

// addCount adds a count, which may repeat the one before it or an older one. Before the first answer it is what is inherited, or null if
// that is nothing; with the first answer, the answer's own tokens are beside it.
func (a *answerReader) addCount(r *rolloutLine, info storage.Object) {
	total := parseTokens(info.Get("total_token_usage").Object())
	switch {
	case isContextFull(total):
		a.count = discover.Tokens{}
	case a.isFirst && !a.answered:
		a.count = total
	case a.isFirst:
		a.count = total.Minus(parseTokens(info.Get("last_token_usage").Object())).Max(discover.Tokens{})
	}
	a.isFirst = false
	total = total.Max(a.count)
	a.counts.add(r.Time(), a.model, total.Minus(a.count))
	a.count = total
}

// quotaFinder finds how much of the provider's limits is used. Records come newest first. The counts (token_count) contain a limit, with its
// name and one or two windows, as the provider stated it in its last answer. Of each limit the newest statement with a window counts: a
// model has a limit of its own, and a statement without a window takes nothing back.
type quotaFinder struct {
	quotas   []discover.Quota
	answered bool // a newer turn has ended than those that follow, or a window was stated
	// refusal is the error of a newer request that the provider refused, refusedAt its time.
	refusal   string
	refusedAt time.Time
}

func (q *quotaFinder) add(r *rolloutLine) {
	switch {
	case r.Kind == kindTokenCount:
		q.addLimit(r.Get("rate_limits").Object(), r.Time())
	case r.Kind == kindTurnCompleted && !q.answered:
		q.addFailure(r)
	}
}

// addFailure adds the end of the newest turn, which may have failed because of a limit (0.147 and later; older versions do not record why).
func (q *quotaFinder) addFailure(r *rolloutLine) {
	q.answered = true
	reason := r.Get("error").Object().Get("codex_error_info")
	if reason.Text(0) == "usage_limit_exceeded" || httpStatus(reason.Object()) == 429 {
		q.refusal, q.refusedAt = r.Get("error").Object().Get("message").Text(0), r.Time()
	}
}

// httpStatus is the HTTP status of a failure, as in {"response_too_many_failed_attempts":{"http_status_code":429}}.
func httpStatus(info storage.Object) int64 {
	for _, v := range info.Members() {
		return v.Object().Get("http_status_code").Int()
	}
	return 0
}

func (q *quotaFinder) addLimit(stated storage.Object, at time.Time) {
	prefix := ""
	if id := stated.Get("limit_id").Text(0); id != "" && id != "codex" {
		prefix = id + " "
	}
	windows := [...]string{prefix + "primary", prefix + "secondary"}
	if slices.ContainsFunc(q.quotas, func(quota discover.Quota) bool { return slices.Contains(windows[:], quota.Name) }) {
		return // a newer statement is known
	}
	for _, name := range windows {
		if quota, ok := parseQuota(stated.Get(strings.TrimPrefix(name, prefix)).Object(), at); ok {
			quota.Name, q.answered = name, true
			q.quotas = append(q.quotas, quota)
		}
	}
}

// parseQuota parses {"used_percent":42.5,"window_minutes":300,"resets_at":1795298576}. Older versions record the seconds until the
// reset instead.
func parseQuota(o storage.Object, at time.Time) (q discover.Quota, ok bool) {
	used, err := strconv.ParseFloat(string(o.Get("used_percent").Raw()), 64)
	if err != nil || used < 0 {
		return q, false
	}
	q.Used, q.Time = &used, at
	if reset := o.Get("resets_at").Int(); reset > 0 {
		q.Resets = time.Unix(reset, 0).UTC()
	} else if in := o.Get("resets_in_seconds").Int(); in > 0 && !at.IsZero() {
		q.Resets = at.Add(time.Duration(in) * time.Second)
	}
	return q, true
}

// list returns the limits. The refusal belongs to those that are used up; if none is, it is listed as a limit without a name.
func (q *quotaFinder) list() []discover.Quota {
	if q.refusal == "" {
		return q.quotas
	}
	known := false
	for i := range q.quotas {
		quota := &q.quotas[i]
		if isReset := !quota.Resets.IsZero() && quota.Resets.Before(q.refusedAt); *quota.Used >= 100 && !isReset {
			quota.Reached, quota.Text, quota.Time, known = true, q.refusal, q.refusedAt, true
		}
	}
	if known {
		return q.quotas
	}
	return append(q.quotas, discover.Quota{Reached: true, Text: q.refusal, Time: q.refusedAt})
}
