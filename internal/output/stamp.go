package output

import "time"

// Timestamp is RFC 3339 in UTC with milliseconds; "" for a time that is not known, or that the format cannot say.
func Timestamp(t time.Time) string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}
