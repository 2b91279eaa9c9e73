package render

import (
	"fmt"
	"time"
)

// Age says in a word how long ago t was: 12s, 5m, 3h, 9d; "" for a time that is not known. A time to come, which a
// clock that was set back can make, is 0s.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := max(0, now.Sub(t)); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}
