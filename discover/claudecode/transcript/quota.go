package transcript

import (
	"strconv"
	"time"

	"agentctl/discover"
)

// quotaOf returns what an error in place of an answer says of a limit; nil if it has another cause. 2.1.329 records the end
// of the limit in members of their own. The text of newer notices has only a time of day, which is not interpreted.
func quotaOf(l *Record) *discover.Quota {
	if l.Error.Text(0) != "rate_limit" {
		return nil
	}
	limits := l.QuotaLimits.Object()
	q := &discover.Quota{
		Name: limits.Get("rateLimitType").Text(0), Reached: true, Resets: unixSeconds(limits.Get("resetsAt").Raw()),
		Text: textOf(l.Content, 0), Time: l.Timestamp.Time(),
	}
	if l.QuotaLimits != nil {
		q.Reached = limits.Get("status").Text(0) == "rejected"
	}
	return q
}

// unixSeconds converts seconds since 1970; anything else becomes the zero time.
func unixSeconds(digits []byte) time.Time {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n <= 0 || n > 1<<33 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
