package opencode

import (
	"fmt"
	"strings"
	"time"

	"agentctl/discover/opencode/transcript"
)

// Prefixes of IDs.
const (
	sessionPrefix = "ses_"
	messagePrefix = "msg_"
	partPrefix    = "prt_"
)

// idLength is that of a whole id: 12 hexadecimal digits for the time and 14 random letters and digits.
const idLength = len(sessionPrefix) + 12 + 14

// isSessionID reports whether s is a session id: "ses_" and letters and digits (SEEN 0.5–1.18). It never holds a path separator.
func isSessionID(s string) bool {
	return len(s) > len(sessionPrefix) && isSessionIDPrefix(s)
}

// isSessionIDPrefix reports whether a session id can begin with s.
func isSessionIDPrefix(s string) bool {
	rest, ok := strings.CutPrefix(s, sessionPrefix)
	if !ok {
		return strings.HasPrefix(sessionPrefix, s)
	}
	for i := range len(rest) {
		if c := rest[i]; c-'0' > 9 && (c|0x20)-'a' > 'z'-'a' { // what is less wraps round
			return false
		}
	}
	return true
}

// idTime is a time as message IDs contain it. Session IDs contain its complement, so that they sort newest first.
func idTime(t time.Time) uint64 { return uint64(t.UnixMilli()) << 12 & transcript.IDTimeMask }

// idRange is a range of ids: from ≤ id < to.
type idRange struct{ from, to string }

// idRanges is the ids between two times of ids: one span, or two where the time comes round in between.
func idRanges(prefix string, from, to uint64) []idRange {
	first, end := fmt.Sprintf("%s%012x", prefix, from), fmt.Sprintf("%s%012x~", prefix, to)
	if from > to {
		return []idRange{{first, prefix + "~"}, {prefix, end}}
	}
	return []idRange{{first, end}}
}

// sessionIDsSince is the ids of sessions that began at or after t.
func sessionIDsSince(t time.Time) []idRange {
	last := ^idTime(t) & transcript.IDTimeMask
	return idRanges(sessionPrefix, (last-transcript.IDTimeMask/2)&transcript.IDTimeMask, last)
}

// messageIDsSince is the ids of messages that were made at or after t.
func messageIDsSince(t time.Time) []idRange {
	first := idTime(t)
	return idRanges(messagePrefix, first, (first+transcript.IDTimeMask/2)&transcript.IDTimeMask)
}
