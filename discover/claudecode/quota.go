package claudecode

import (
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// oldLimit begins the notice of 1.x that a limit is reached; when it ends follows, in seconds since 1970.
const oldLimit = "Claude AI usage limit reached|"

// quotaOf is what an error that stands for an answer says of a limit; nil if the reason was another one. Newer notices
// name the end by the clock of their day, which is left as it stands; 2.1.329 records it beside them.
func quotaOf(raw []byte, l *line) *discover.Quota {
	text := textOf(l.content, 0)
	q := &discover.Quota{Reached: true, Text: text, Time: l.Timestamp.Time()}
	limited := false
	if end, ok := strings.CutPrefix(text, oldLimit); ok {
		q.Resets, limited = seconds([]byte(end)), true
	}
	for key, v := range native.Object(raw).Members() {
		switch string(key) {
		case "error":
			limited = limited || v.Text(0) == "rate_limit"
		case "quotaLimits":
			q.Name = v.Object().Get("rateLimitType").Text(0)
			q.Resets = seconds(v.Object().Get("resetsAt").Raw())
			q.Reached = v.Object().Get("status").Text(0) == "rejected"
		}
	}
	if !limited {
		return nil
	}
	return q
}

// seconds is a time in seconds since 1970; zero for anything else.
func seconds(digits []byte) time.Time {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n <= 0 || n > 1<<33 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
