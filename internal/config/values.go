package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Color says when output is coloured.
type Color string

// The values of the key color.
const (
	Auto   Color = "auto"   // on a terminal that supports colours
	Always Color = "always" // into pipes and files too
	Never  Color = "never"
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Color) UnmarshalText(text []byte) error {
	switch v := Color(text); v {
	case Auto, Always, Never:
		*c = v
		return nil
	}
	return fmt.Errorf("color must be auto, always or never, not %q", text)
}

// Since is a time window in the syntax of [ParseSince].
type Since string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Since) UnmarshalText(text []byte) error {
	if _, err := ParseSince(string(text), time.Now()); err != nil {
		return err
	}
	*s = Since(text)
	return nil
}

// ConnectTimeout is a whole number of seconds or minutes.
type ConnectTimeout time.Duration

// DefaultConnectTimeout is the [ConnectTimeout] if the file sets none: several times what a far machine takes.
const DefaultConnectTimeout = ConnectTimeout(5 * time.Second)

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *ConnectTimeout) UnmarshalText(text []byte) error {
	const longest = len("999s")
	d, err := time.ParseDuration(string(text))
	if err != nil || len(text) > longest || text[0] < '1' || text[0] > '9' || d%time.Second != 0 || !strings.ContainsRune("sm", rune(text[len(text)-1])) ||
		strings.Trim(string(text[:len(text)-1]), "0123456789") != "" {
		return fmt.Errorf("connect-timeout must be a whole number of seconds or minutes, as in 5s or 1m, not %q", text)
	}
	*t = ConnectTimeout(d)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (t ConnectTimeout) MarshalText() ([]byte, error) { return []byte(time.Duration(t).String()), nil }

// ParseSince returns the start of a time window in UTC: a duration before now (90m, 12h, 30d, 2w), a date
// (2006-01-02, midnight in the time zone of now), a time (RFC 3339), or "all", which is the zero time.
func ParseSince(s string, now time.Time) (time.Time, error) {
	if s == "all" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t.UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	if d, ok := parseWholeUnits(s); ok {
		return now.Add(-d).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a valid time; use 90m, 12h, 30d, 2w, 2006-01-31, 2006-01-31T15:04:05Z or all", s)
}

// ParseDuration parses a duration in the syntax of Go (90s, 1h30m), or a whole number of days of 24 hours or of
// weeks (2d, 1w).
func ParseDuration(s string) (time.Duration, bool) {
	if d, ok := parseWholeUnits(s); ok {
		return d, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// parseWholeUnits parses a whole number of minutes, hours, days of 24 hours, or weeks.
func parseWholeUnits(s string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
	digits := strings.TrimRight(s, "mhdw")
	unit, ok := units[s[len(digits):]]
	const bits = 20 // six digits
	n, err := strconv.ParseUint(digits, 10, bits)
	if !ok || err != nil {
		return 0, false
	}
	if d := time.Duration(n) * unit; d/unit == time.Duration(n) {
		return d, true
	}
	return 0, false
}

// cutTilde removes a leading ~/, or a lone ~.
func cutTilde(path string) (rest string, ok bool) {
	if path == "~" {
		return "", true
	}
	return strings.CutPrefix(path, "~/")
}
