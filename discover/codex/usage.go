package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// threadUsage is a thread and what it used.
type threadUsage struct {
	discover.SessionUsage
	warnings error
}

// ReadUsage reads whole rollouts. Each thread has its own tokens, without those of sub-agents.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		titles, err := readTitles(ctx, entries)
		if err != nil && !yield(nil, err) {
			return
		}
		read := func(ctx context.Context, e discover.Entry, u *threadUsage) (bool, error) {
			ok, err := u.read(ctx, e)
			u.Title = cmp.Or(titles[e.Home][u.ID], u.Title)
			u.TruncateTexts()
			return ok, err
		}
		for u, err := range storage.ReadParallel(ctx, entries, read) {
			if err := errors.Join(err, u.warnings); err != nil && !yield(nil, err) {
				return
			}
			if len(u.Usage) > 0 && !yield(&u.SessionUsage, nil) {
				return
			}
		}
	}
}

// read reads what one thread used: nothing if its tokens are not known.
func (u *threadUsage) read(ctx context.Context, e discover.Entry) (ok bool, err error) {
	var t storedThread
	if ok, err = t.read(ctx, e, discover.ReadOptions{Tokens: true}); !ok || err != nil {
		return ok, err
	}
	u.Record = t.Record
	if t.Tokens != nil {
		answers, failed := t.readAnswers(ctx, e)
		if err = failed; err == nil {
			u.Usage = addRest(answers, &t.Record)
		}
	}
	u.warnings = errors.Join(t.warnings, t.damaged)
	return true, err
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
func (t *storedThread) readAnswers(ctx context.Context, e discover.Entry) (list answerList, err error) {
	rollouts := []discover.Entry{e}
	if segmentOf(e) != "" {
		if rollouts, err = allRollouts(ctx, e.Home, t.ID, t.fileTime); err != nil {
			return list, err
		}
	}
	for _, rollout := range rollouts {
		answers, err := t.readRollout(ctx, rollout.Path)
		if err != nil {
			return list, warn(rollout.Path, fmt.Errorf("the session's tokens are unknown: %w", storage.WithoutPath(rollout.Path, err)))
		}
		list = answerList{append(list.all, answers.all...), list.sum.Plus(answers.sum)}
	}
	return list, nil
}

// readRollout returns the answers in one rollout without those that it has inherited, by the larger one of the two totals that Codex records
// (see [twoTotals]).
func (t *storedThread) readRollout(ctx context.Context, path string) (answerList, error) {
	f, h, err := openSegment(ctx, path, t.ID)
	if err != nil {
		return answerList{}, err
	}
	defer f.Close()
	x := answerReader{own: newOwnTurn(t.ID), isFirst: true}
	if !h.MayInherit() {
		x.own, x.isFirst = ownTurn{found: true}, false
	}
	_, err = f.Parse(0, 0, parser(func() string { return t.ID }, x.addLine))
	if path == t.Path {
		t.setDamage(f, x.damage)
	}
	switch {
	case x.own.copied && !x.own.found:
		return answerList{}, err
	case inAndOut(x.records.sum) >= inAndOut(x.counts.sum):
		return x.records, err
	}
	return x.counts, err
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

// add adds what an answer used.
func (l *answerList) add(at time.Time, model string, used discover.Tokens) {
	if inAndOut(used) > 0 {
		l.all, l.sum = append(l.all, discover.Usage{Time: at, Model: model, Tokens: disjoint(used)}), l.sum.Plus(used)
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

func (x *answerReader) addLine(l storage.Line, r *rolloutRecord) bool {
	if l.Rest {
		x.damage.Add(l)
	}
	if l.Rest || l.Cut {
		return true
	}
	if x.own.begins(r, l) {
		x.records, x.counts, x.answered = answerList{}, answerList{}, false
	}
	switch {
	case r.Kind == kindTurnContext:
		x.model = r.Get("model").Text(0)
	case r.Kind == kindTokenUsage:
		x.addRecord(r)
	case r.Kind == kindTokenCount:
		x.addCount(r, r.Get("info").Object())
	case r.Kind.FromModel() || r.Kind == kindAgentText:
		x.answered = true
	}
	return true
}

// addRecord adds a token_usage_record, which may be recorded twice.
func (x *answerReader) addRecord(r *rolloutRecord) {
	x.answered = true
	if total := parseTokens(r.Get("thread_token_usage").Object()); inAndOut(total) > inAndOut(x.record) {
		x.record = total
		x.records.add(r.Time(), x.model, parseTokens(r.Get("usage").Object()))
	}
}

// addCount adds a count, which may repeat the one before it or an older one. Before the first answer it is what is inherited, or null if
// that is nothing; with the first answer, the answer's own tokens are beside it.
func (x *answerReader) addCount(r *rolloutRecord, info storage.Object) {
	total := parseTokens(info.Get("total_token_usage").Object())
	switch {
	case isContextFull(total):
		x.count = discover.Tokens{}
	case x.isFirst && !x.answered:
		x.count = total
	case x.isFirst:
		x.count = total.Minus(parseTokens(info.Get("last_token_usage").Object())).Max(discover.Tokens{})
	}
	x.isFirst = false
	total = total.Max(x.count)
	x.counts.add(r.Time(), x.model, total.Minus(x.count))
	x.count = total
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

// add adds the next older record.
func (l *quotaFinder) add(r *rolloutRecord) {
	switch {
	case r.Kind == kindTokenCount:
		l.addLimit(r.Get("rate_limits").Object(), r.Time())
	case r.Kind == kindTurnCompleted && !l.answered:
		l.addFailure(r)
	}
}

// addFailure adds the end of the newest turn, which may have failed because of a limit (0.147 and later; older versions do not record why).
func (l *quotaFinder) addFailure(r *rolloutRecord) {
	l.answered = true
	reason := r.Get("error").Object().Get("codex_error_info")
	if reason.Text(0) == "usage_limit_exceeded" || httpStatus(reason.Object()) == 429 {
		l.refusal, l.refusedAt = r.Get("error").Object().Get("message").Text(0), r.Time()
	}
}

// httpStatus is the HTTP status of a failure, as in {"response_too_many_failed_attempts":{"http_status_code":429}}.
func httpStatus(info storage.Object) int64 {
	for _, v := range info.Members() {
		return v.Object().Get("http_status_code").Int()
	}
	return 0
}

// addLimit adds a statement of a limit.
func (l *quotaFinder) addLimit(stated storage.Object, at time.Time) {
	prefix := ""
	if id := stated.Get("limit_id").Text(0); id != "" && id != "codex" {
		prefix = id + " "
	}
	windows := [...]string{prefix + "primary", prefix + "secondary"}
	if slices.ContainsFunc(l.quotas, func(q discover.Quota) bool { return slices.Contains(windows[:], q.Name) }) {
		return // a newer statement is known
	}
	for _, name := range windows {
		if q, ok := parseQuota(stated.Get(strings.TrimPrefix(name, prefix)).Object(), at); ok {
			q.Name, l.answered = name, true
			l.quotas = append(l.quotas, q)
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
func (l *quotaFinder) list() []discover.Quota {
	if l.refusal == "" {
		return l.quotas
	}
	known := false
	for i := range l.quotas {
		q := &l.quotas[i]
		if isReset := !q.Resets.IsZero() && q.Resets.Before(l.refusedAt); *q.Used >= 100 && !isReset {
			q.Reached, q.Text, q.Time, known = true, l.refusal, l.refusedAt, true
		}
	}
	if known {
		return l.quotas
	}
	return append(l.quotas, discover.Quota{Reached: true, Text: l.refusal, Time: l.refusedAt})
}
