package object

import "time"

// Timestamp formats t as RFC 3339 in UTC with milliseconds. It returns "" for the zero time and for a year that
// RFC 3339 cannot express.
func Timestamp(t time.Time) string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// ParseTimestamp parses a JSON timestamp. It is not ok if it is absent.
func ParseTimestamp(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}
