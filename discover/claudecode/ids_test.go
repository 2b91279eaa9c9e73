package claudecode

import "testing"

func TestMatchesID(t *testing.T) {
	for id, want := range map[string]bool{
		"479c58fd-bac9-45a8-9895-8d4f68f8467f": true,
		"019de2f3-58ba-72f7-ab7d-7c60e9d8dc8f": false, // version 7, as Codex makes them
		"479c58fd-bac9-45a8-9895-8d4f68f8467":  false,
		"479c58fd":                             false,
		"":                                     false,
	} {
		if got := New().MatchesID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// Session IDs are random; those of sub-agents are after a prefix.
func TestShortID(t *testing.T) {
	for id, want := range map[string]int{"479c58fd-bac9-45a8-9895-8d4f68f8467f": 8, "agent-a0123456789abcdef": len("agent-a01234567"), "agent-01234567": 15} {
		if got := New().ShortID(id); got != want {
			t.Errorf("%q: %d, want %d", id, got, want)
		}
	}
}
