package opencode

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const sessionPrefix = "ses_"

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

// idTime counts time in ids: milliseconds times 4096 and a counter, cut to 48 bits, so that it comes round every
// 795 days. Session ids hold its complement, which sorts them newest first; message ids hold it as it is.
const (
	idBits = 48
	idMask = 1<<idBits - 1
)

func idTime(t time.Time) uint64 { return uint64(t.UnixMilli()) << 12 & idMask }

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
	last := ^idTime(t) & idMask
	return idRanges(sessionPrefix, (last-idMask/2)&idMask, last)
}

// messageIDsSince is the ids of messages that were made at or after t.
func messageIDsSince(t time.Time) []idRange {
	first := idTime(t)
	return idRanges("msg_", first, (first+idMask/2)&idMask)
}

// messageIDTime is the time in a message's id, in milliseconds; 0 where there is none. It is taken for the last one at or
// before that of another message. Should that be more than a month earlier, the id was made later, for a copy (`--fork`):
// then it is the other's time itself.
func messageIDTime(id string, before int64) int64 {
	const month = 31 * 24 * int64(time.Hour/time.Millisecond)
	rest, ok := strings.CutPrefix(id, "msg_")
	if !ok || len(rest) < idBits/4 {
		return 0
	}
	counted, err := strconv.ParseUint(rest[:idBits/4], 16, idBits)
	if err != nil {
		return 0
	}
	since := int64((uint64(before) - counted>>12) & (idMask >> 12))
	if since > month {
		return before
	}
	return before - since
}

// timeOf converts milliseconds since 1970; zero where there is none.
func timeOf(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
