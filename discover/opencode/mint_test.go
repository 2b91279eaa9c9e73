package opencode

import "testing"

func TestMints(t *testing.T) {
	for id, want := range map[string]bool{
		"ses_21d32c232ffeT0QSgZ5ukOTKPp": true,
		"ses_21d32c232ffeT0QSgZ5ukOTKP":  false,
		"ses_21d32c232ffeT0QSgZ5ukO/KPp": false,
		"ses_":                           false,
		"":                               false,
	} {
		if got := New().Mints(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
