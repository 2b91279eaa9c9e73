package codex

import (
	"strconv"
	"strings"
	"time"

	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// isThreadID reports whether s is a UUID in lower case.
func isThreadID(s string) bool { return len(s) == native.UUIDLen && native.IsUUIDPrefix(s, false) }

// threadCreated is the time at which the thread with this ID, or with an ID that begins like this, was created. Codex's IDs are UUIDs of
// version 7, which begin with 48 bits of milliseconds since 1970. It is not ok for an ID of another version, or for fewer digits.
func threadCreated(id string) (time.Time, bool) {
	digits := strings.ReplaceAll(id, "-", "")
	if len(digits) < 12 || len(digits) > 12 && digits[12] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(digits[:12], 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// parseThreadID is the ID of a thread in a value, "" if the value is none.
func parseThreadID(v jsonl.Value) string {
	if id := v.Text(0); isThreadID(id) {
		return id
	}
	return ""
}
