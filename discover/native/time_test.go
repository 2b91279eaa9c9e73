package native

import (
	"fmt"
	"testing"
	"time"
)

// FuzzTime: whatever the bytes, the time is what the standard library says.
func FuzzTime(f *testing.F) {
	for _, s := range []string{
		"2026-11-20T19:09:28.087Z", "2026-02-29T19:09:28.087Z", "2024-02-29T19:09:28.087Z", "2026-13-20T19:09:28.087Z",
		"2026-11-20T24:09:28.087Z", "2026-11-20T23:59:60.087Z", "0000-00-00T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
		"2026-11-20T19:09:28Z", "2026-11-20T19:09:28.123456789+02:00", "2026-11-20", "", "\\u0032026-11-20T19:09:28.087Z",
		"2026-11-20T19:09:28.087Z and more", "2026-11-31T19:09:28.087Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := Value(`"` + s + `", "next": 1`)
		want, err := time.Parse(time.RFC3339Nano, v.Text(maxTime))
		if err != nil {
			want = time.Time{}
		}
		if got := v.Time(); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	})
}

// The calendar is that of the standard library, whatever the day.
func TestEveryDay(t *testing.T) {
	for _, years := range [][2]int{{0, 5}, {1598, 1606}, {1896, 2104}, {2396, 2404}, {9996, 9999}} {
		for year := years[0]; year <= years[1]; year++ {
			for month := 1; month <= 12; month++ {
				for day := 1; day <= 31; day++ {
					s := fmt.Sprintf("%04d-%02d-%02dT19:09:28.087Z", year, month, day)
					want, err := time.Parse(time.RFC3339Nano, s)
					if got, ok := utcTime([]byte(s + `"`)); ok != (err == nil) || !got.Equal(want) {
						t.Fatalf("%s: %v, %v", s, got, ok)
					}
				}
			}
		}
	}
}

// The newest of two times is found whatever their form, and whichever comes first.
func FuzzNewest(f *testing.F) {
	const usual = "2026-11-20T19:09:28.087Z"
	for _, s := range []string{
		"2026-11-20T19:09:28.086Z", "2026-11-20T19:09:28.088Z", "2026-11-20T19:09:28Z", "2026-11-20T19:09:29+02:00", "9999", "", "no time at all, but a Z",
		"2026-11-20T21:09:28.087+02:00",
	} {
		f.Add(s, usual)
		f.Add(usual, s)
		f.Add(s, s)
	}
	f.Add(`2026-11-20T\0:00:00,000Z`, "2026-11-20T00:00:01,000Z")
	f.Fuzz(func(t *testing.T, a, b string) {
		var n Newest
		var want time.Time
		for _, s := range []string{a, b, a} {
			v := Value(`"` + s + `", "next": 1`)
			n.See(v)
			if at := v.Time(); at.After(want) {
				want = at
			}
		}
		if diff := want.Sub(n.Time); diff < 0 || diff >= time.Second { // a comma for a point in the second's fraction sorts before it
			t.Errorf("%q, %q: %v, want %v", a, b, n.Time, want)
		}
	})
}
