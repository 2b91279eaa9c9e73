package opencode

import (
	"fmt"
	"strings"
	"time"
)

// Prefixes of IDs.
const (
	sessionPrefix = "ses_"
	messagePrefix = "msg_"
	partPrefix    = "prt_"
)

// idLength is the length of an ID: the prefix, 12 hexadecimal digits for the time, and 14 random letters and digits.
const idLength = len(sessionPrefix) + 12 + 14

// isSessionID reports whether s is a session ID: "ses_" and letters and digits (SEEN 0.5–1.18). An ID has no path separator.
func isSessionID(s string) bool {
	return len(s) > len(sessionPrefix) && isSessionIDPrefix(s)
}

// isSessionIDPrefix reports whether a session ID can begin with s.
func isSessionIDPrefix(s string) bool {
	rest, ok := strings.CutPrefix(s, sessionPrefix)
	if !ok {
		return strings.HasPrefix(sessionPrefix, s)
	}
	for i := range len(rest) {
		if c := rest[i]; c-'0' > 9 && (c|0x20)-'a' > 'z'-'a' { // smaller values wrap around
			return false
		}
	}
	return true
}

// idTime is a time as message IDs contain it. Session IDs contain its complement, so that they sort newest first.
func idTime(t time.Time) uint64 { return uint64(t.UnixMilli()) << 12 & idTimeMask }

// idRange is a range of IDs: from ≤ ID < to.
type idRange struct{ from, to string }

// idRanges returns the IDs between two times: one range, or two if the time wraps around between them.
func idRanges(prefix string, from, to uint64) []idRange {
	first, end := fmt.Sprintf("%s%012x", prefix, from), fmt.Sprintf("%s%012x~", prefix, to)
	if from > to {
		return []idRange{{first, prefix + "~"}, {prefix, end}}
	}
	return []idRange{{first, end}}
}

// sessionIDsSince returns the IDs of the sessions that began at or after t.
func sessionIDsSince(t time.Time) []idRange {
	last := ^idTime(t) & idTimeMask
	return idRanges(sessionPrefix, (last-idTimeMask/2)&idTimeMask, last)
}

// messageIDsSince returns the IDs of the messages that were made at or after t.
func messageIDsSince(t time.Time) []idRange {
	first := idTime(t)
	return idRanges(messagePrefix, first, (first+idTimeMask/2)&idTimeMask)
}
