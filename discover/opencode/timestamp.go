package opencode

import (
	"strconv"
	"strings"
	"time"
)

// idTimeBits is the size of the time in an ID: milliseconds times 4096 plus a counter, cut to 48 bits, which repeat every 795 days.
// storedMessage IDs contain that number in hexadecimal, session IDs its complement.
const (
	idTimeBits = 48
	idTimeMask = 1<<idTimeBits - 1
)

// messageIDTime returns the time in a message's ID, in milliseconds; 0 if there is none. An ID has only the lower bits of a time. The result
// is the latest time with these bits that is not after another message's time, before. If it is more than a month earlier, the message is
// a copy (`--fork`) whose ID was made later, and the result is before.
func messageIDTime(id string, before int64) int64 {
	const month = 31 * 24 * int64(time.Hour/time.Millisecond)
	rest, ok := strings.CutPrefix(id, "msg_")
	if !ok || len(rest) < idTimeBits/4 {
		return 0
	}
	counted, err := strconv.ParseUint(rest[:idTimeBits/4], 16, idTimeBits)
	if err != nil {
		return 0
	}
	since := int64((uint64(before) - counted>>12) & (idTimeMask >> 12))
	if since > month {
		return before
	}
	return before - since
}

// fromMillis converts milliseconds since 1970; zero for 0 and less.
func fromMillis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
