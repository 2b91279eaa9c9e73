package render

import "time"

// Stamp is RFC 3339 in UTC with milliseconds; "" for a time that is not known, or that the format cannot say. It is written by
// hand: a long list has tens of thousands.
func Stamp(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	if t.IsZero() || year < 1 || year > 9999 {
		return ""
	}
	hour, minute, second := t.Clock()
	b := []byte("0000-00-00T00:00:00.000Z")
	putTwo(b[0:], year/100)
	putTwo(b[2:], year%100)
	putTwo(b[5:], int(month))
	putTwo(b[8:], day)
	putTwo(b[11:], hour)
	putTwo(b[14:], minute)
	putTwo(b[17:], second)
	milliseconds := t.Nanosecond() / 1e6
	putTwo(b[20:], milliseconds/10)
	b[22] += byte(milliseconds % 10)
	return string(b)
}

// putTwo writes a number of two digits.
func putTwo(b []byte, n int) {
	b[0], b[1] = '0'+byte(n/10), '0'+byte(n%10)
}
