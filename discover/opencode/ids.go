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
	return len(s) > len(sessionPrefix) && beginsSessionID(s)
}

// beginsSessionID reports whether a session id can begin with s.
func beginsSessionID(s string) bool {
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

// span is a range of ids: from ≤ id < to.
type span struct{ from, to string }

// within is the ids between two times of ids: one span, or two where the time comes round in between.
func within(prefix string, from, to uint64) []span {
	first, end := fmt.Sprintf("%s%012x", prefix, from), fmt.Sprintf("%s%012x~", prefix, to)
	if from > to {
		return []span{{first, prefix + "~"}, {prefix, end}}
	}
	return []span{{first, end}}
}

// sessionsSince is the ids of sessions that began at or after t.
func sessionsSince(t time.Time) []span {
	last := ^idTime(t) & idMask
	return within(sessionPrefix, (last-idMask/2)&idMask, last)
}

// messagesSince is the ids of messages that were made at or after t.
func messagesSince(t time.Time) []span {
	first := idTime(t)
	return within("msg_", first, (first+idMask/2)&idMask)
}

// messageTime is the time in a message's id, in milliseconds; 0 where there is none. It is taken for the last one at or
// before that of another message. Should that be more than a month earlier, the id was made later, for a copy (`--fork`):
// then it is the other's time itself.
func messageTime(id string, before int64) int64 {
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

// millis turns a time of the store into ours; zero where there is none.
func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
