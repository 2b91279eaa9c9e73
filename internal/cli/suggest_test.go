package cli

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	words := []string{"list", "status", "claude-code", "-q"}
	for in, want := range map[string]string{
		"lsit": "list", "lst": "list", "stauts": "status", "claudecode": "claude-code", "-x": "-q",
		"frobnicate": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got, ok := closest(in, words); got != want || ok != (want != "") {
			t.Errorf("%.20s: %q", in, got)
		}
	}
}
