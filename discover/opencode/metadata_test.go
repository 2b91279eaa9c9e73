package opencode

import (
	"testing"
)

// The title that the agent gives to each new session is no title.
func TestParseTitle(t *testing.T) {
	for stored, want := range map[string]string{
		"New session - 2026-11-20T19:20:45.913Z":           "",
		"Child session - 2026-11-20T19:20:45.913Z":         "",
		"New session - 2026-11-20T19:20:45.913Z (fork #1)": "",
		"New session - of mine":                            "New session - of mine",
		"Fix the parser":                                   "Fix the parser",
	} {
		if got := parseTitle(stored); got != want {
			t.Errorf("%q is %q, want %q", stored, got, want)
		}
	}
}
