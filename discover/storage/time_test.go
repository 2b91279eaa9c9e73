package storage

import (
	"testing"
	"time"
)

// FuzzTime: for any bytes, the time is that of the standard library, in UTC.
func FuzzTime(f *testing.F) {
	for _, s := range []string{
		"2026-11-20T19:09:28.087Z", "2026-02-29T19:09:28.087Z", "2024-02-29T19:09:28.087Z", "2026-13-20T19:09:28.087Z",
		"2026-11-20T24:09:28.087Z", "2026-11-20T23:59:60.087Z", "0000-00-00T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
		"2026-11-20T19:09:28Z", "2026-11-20T19:09:28.123456789+02:00", "2026-11-20", "", "\\u0032026-11-20T19:09:28.087Z",
		"2026-11-20T19:09:28.087Z and more", "2026-11-31T19:09:28.087Z", "2026-11-20T19:09:28,087Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := Value(`"` + s + `", "next": 1`)
		want, err := time.Parse(time.RFC3339Nano, v.Text(0))
		got := v.Time()
		if got.Location() != time.UTC || !got.IsZero() && (err != nil || !got.Equal(want)) {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
		if err == nil && got.IsZero() && s == want.UTC().Format("2006-01-02T15:04:05.000Z") && !want.IsZero() {
			t.Errorf("%q: no time", s)
		}
	})
}
