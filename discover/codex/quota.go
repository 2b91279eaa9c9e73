package codex

import (
	"strconv"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// quotaFinder finds how much of the provider's limits is used. Records come newest first. The counts (token_count) contain the limits,
// as the provider stated them in its last answer.
type quotaFinder struct {
	quotas []discover.Quota
	found  bool // the newest count has come
	// refusal is the error of a newer request that the provider refused, refusedAt its time.
	refusal   string
	refusedAt time.Time
}

// addFailure adds the end of a turn, which may have failed because of a limit (0.147 and later; older versions do not record why).
func (l *quotaFinder) addFailure(r *rolloutRecord) {
	reason := r.Get("error").Object().Get("codex_error_info")
	if !l.found && l.refusal == "" && (reason.Text(0) == "usage_limit_exceeded" || httpStatus(reason.Object()) == 429) {
		l.refusal, l.refusedAt = r.Get("error").Object().Get("message").Text(0), r.Time()
	}
}

// httpStatus is the HTTP status of a failure, as in {"response_too_many_failed_attempts":{"http_status_code":429}}.
func httpStatus(info jsonl.Object) int64 {
	for _, v := range info.Members() {
		return v.Object().Get("http_status_code").Int()
	}
	return 0
}

// addCount adds a token_count.
func (l *quotaFinder) addCount(r *rolloutRecord) {
	if l.found {
		return
	}
	l.found = true
	stated := r.Get("rate_limits").Object()
	prefix := ""
	if id := stated.Get("limit_id").Text(0); id != "" && id != "codex" {
		prefix = id + " "
	}
	for _, name := range [...]string{"primary", "secondary"} {
		if q, ok := parseQuota(stated.Get(name).Object(), r.Time()); ok {
			q.Name = prefix + name
			l.quotas = append(l.quotas, q)
		}
	}
}

// parseQuota parses {"used_percent":42.5,"window_minutes":300,"resets_at":1795298576}. Older versions record the seconds until the
// reset instead.
func parseQuota(o jsonl.Object, at time.Time) (q discover.Quota, ok bool) {
	used, err := strconv.ParseFloat(string(o.Get("used_percent").Raw()), 64)
	if err != nil {
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

// list is the limits. The refusal belongs to those that are used up or, if none is, to a limit of its own.
func (l *quotaFinder) list() []discover.Quota {
	if l.refusal == "" {
		return l.quotas
	}
	known := false
	for i := range l.quotas {
		if q := &l.quotas[i]; *q.Used >= 100 {
			q.Reached, q.Text, q.Time, known = true, l.refusal, l.refusedAt, true
		}
	}
	if known {
		return l.quotas
	}
	return append(l.quotas, discover.Quota{Reached: true, Text: l.refusal, Time: l.refusedAt})
}
