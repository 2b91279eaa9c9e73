package native

import "time"

// Time is a time in RFC 3339, UTC; zero for anything else.
func (v Value) Time() time.Time {
	if len(v) == 0 || v[0] != '"' {
		return time.Time{}
	}
	if t, ok := utcTime(v[1:]); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339Nano, v.Text(maxTime))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// maxTime is the most characters of a time.
const maxTime = 64

// utcTime reads the form in which all agents write their times, "2026-11-20T19:09:28.087Z" and its closing quote,
// several times faster than time.Parse does; not ok for any other form, which need not be wrong.
func utcTime(b []byte) (time.Time, bool) {
	const form = `0000-00-00T00:00:00.000Z"`
	if len(b) < len(form) {
		return time.Time{}, false
	}
	for i := range len(form) {
		if c := b[i]; form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return time.Time{}, false
		}
	}
	digits := func(from, to int) (n int) {
		for _, c := range b[from:to] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := digits(0, 4), digits(5, 7), digits(8, 10)
	hour, minute, second := digits(11, 13), digits(14, 16), digits(17, 19)
	t := time.Date(year, time.Month(month), day, hour, minute, second, digits(20, 23)*int(time.Millisecond), time.UTC)
	// Numbers out of range would carry over.
	ok := hour < 24 && minute < 60 && second < 60 && 1 <= month && month <= 12 && 1 <= day && (day <= 28 || t.Day() == day)
	return t, ok
}

// Newest is the newest of the times that it was shown.
type Newest struct {
	Time time.Time
	// text is Time in the usual form, if it was written so.
	text [usualTime]byte
}

// usualTime is the length of a time in the form in which all agents write it.
const usualTime = len("2026-11-20T19:09:28.087Z")

// See takes one more time. Records mostly come in order, so that most are told to be older by their text alone.
func (n *Newest) See(v Value) {
	const end = usualTime + 1
	usual := len(v) > end && v[0] == '"' && v[end-1] == 'Z' && v[end] == '"'
	if usual && string(v[1:end]) <= string(n.text[:]) {
		return
	}
	t := v.Time()
	if !t.After(n.Time) {
		return
	}
	n.Time, n.text = t, [usualTime]byte{}
	if usual {
		copy(n.text[:], v[1:end])
	}
}
