package output

import (
	"strconv"
	"time"
)

// Age formats the time since t in one unit: 12s, 5m, 3h, 9d. It returns "" if t is the zero time, and 0s if t is
// in the future, which a clock that was set back can cause.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := max(0, now.Sub(t)); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
}

// Timestamp formats t as RFC 3339 in UTC with milliseconds. It returns "" for the zero time and for a year that
// RFC 3339 cannot express.
func Timestamp(t time.Time) string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// parseTimestamp parses a JSON timestamp. It is not ok if it is absent.
func parseTimestamp(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}
