package jsonl

import "time"

// Time is a time in RFC 3339, UTC; zero for anything else.
func (v Value) Time() time.Time {
	var t time.Time
	if err := t.UnmarshalText(v.literal()); err != nil {
		return time.Time{}
	}
	return t.UTC()
}
