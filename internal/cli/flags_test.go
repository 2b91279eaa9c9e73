package cli

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30m": 30 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour,
		"0": -1, "0s": -1, "0d": -1, "-1s": -1, "-2d": -1, "5": -1, "soon": -1, "1d12h": -1, "d": -1, "": -1, "99999999d": -1,
	} {
		var got time.Duration
		err := (&durationValue{to: &got}).Set(text)
		if want < 0 {
			if err == nil || got != 0 {
				t.Errorf("%q is taken for %s", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	forever := time.Second
	if err := (&durationValue{to: &forever, zeroAllowed: true}).Set("0"); err != nil || forever != 0 {
		t.Errorf("0, of a limit: %s, %v", forever, err)
	}
	for d, want := range map[time.Duration]string{0: "", time.Minute: "1m", 10 * time.Second: "10s", 90 * time.Second: "1m30s", time.Hour: "1h0m"} {
		if got := (&durationValue{to: &d}).String(); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
