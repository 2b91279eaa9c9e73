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
// many times faster than time.Parse does; not ok for any other form, which need not be wrong.
func utcTime(b []byte) (time.Time, bool) {
	const form = `0000-00-00T00:00:00.000Z"`
	if len(b) < len(form) || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' ||
		b[23] != 'Z' || b[24] != '"' {
		return time.Time{}, false
	}
	var d digits
	year, month, day := d.two(b[0:])*100+d.two(b[2:]), d.two(b[5:]), d.two(b[8:])
	hour, minute, second := d.two(b[11:]), d.two(b[14:]), d.two(b[17:])
	milli := d.two(b[20:])*10 + d.one(b[22])
	if d.wrong() || hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return time.Time{}, false
	}
	seconds := ((daysTo(year, month)+day-1)*24+hour)*60*60 + minute*60 + second
	return time.Unix(int64(seconds), int64(milli)*int64(time.Millisecond)).UTC(), true
}

// digits reads digits, and remembers whether one of them was none: without a branch, which would often be guessed wrong.
type digits struct{ over uint32 }

func (d *digits) one(c byte) int {
	n := uint32(c - '0')
	d.over |= 9 - n // wraps round if that is more than 9
	return int(n)
}

func (d *digits) wrong() bool { return d.over > 9+6 } // no more bits than those of 0 to 9

func (d *digits) two(b []byte) int { return d.one(b[0])*10 + d.one(b[1]) }

// daysIn is how many days a month has.
func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	}
	return 30 + (month+month/8)%2
}

// daysTo is how many days lie between 1970 and the first day of a month. The year is taken to begin in March, so that a leap
// day is its last.
func daysTo(year, month int) int {
	const march1970 = 719_468 // days since the March of year 0
	month = (month + 9) % 12
	year += 400 - month/10 // 400, so that it is not negative, and divides towards zero
	return 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 - march1970 - 146_097
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
	if len(v) > end && v[0] == '"' && v[end-1] == 'Z' && v[end] == '"' && string(v[1:end]) <= string(n.text[:]) {
		return
	}
	t, usual := time.Time{}, false // only a time that is usual in each letter may be compared with by its text
	if len(v) > 0 && v[0] == '"' {
		t, usual = utcTime(v[1:])
	}
	if !usual {
		t = v.Time()
	}
	if !t.After(n.Time) {
		return
	}
	n.Time, n.text = t, [usualTime]byte{}
	if usual {
		copy(n.text[:], v[1:end])
	}
}
