package transcript

import (
	"strconv"
	"strings"
	"time"
)

// IDTimeBits is the size of the time in an ID: milliseconds times 4096 plus a counter, cut to 48 bits, which repeat every 795 days.
// Message IDs contain that number in hexadecimal, session IDs its complement.
const (
	IDTimeBits = 48
	IDTimeMask = 1<<IDTimeBits - 1
)

// messageIDTime returns the time in a message's ID, in milliseconds; 0 if there is none. An ID has only the lower bits of a time. The result
// is the latest time with these bits that is not after another message's time, before. If it is more than a month earlier, the message is
// a copy (`--fork`) whose ID was made later, and the result is before.
func messageIDTime(id string, before int64) int64 {
	const month = 31 * 24 * int64(time.Hour/time.Millisecond)
	rest, ok := strings.CutPrefix(id, "msg_")
	if !ok || len(rest) < IDTimeBits/4 {
		return 0
	}
	counted, err := strconv.ParseUint(rest[:IDTimeBits/4], 16, IDTimeBits)
	if err != nil {
		return 0
	}
	since := int64((uint64(before) - counted>>12) & (IDTimeMask >> 12))
	if since > month {
		return before
	}
	return before - since
}

// Time converts milliseconds since 1970; zero for 0 and less.
func Time(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
