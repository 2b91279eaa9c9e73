package opencode

import (
	"strings"
	"testing"

	"agentctl/discover"
)

func TestPrompt(t *testing.T) {
	for stored, want := range map[string]string{
		`hello`: "hello", `"hello world"`: "hello world", "\"hello world\"\n": "hello world", "hi\n": "hi",
		`"say \"hi\" to it"`: `say "hi" to it`, `fix "the bug"`: `fix "the bug"`, `"a b" "c d"`: `"a b" "c d"`,
		`"`: "", `""`: "", "\"a b\"\nfrom stdin": "\"a b\"\nfrom stdin",
	} {
		if got := promptText(stored); got != want {
			t.Errorf("%q: got %q, want %q", stored, got, want)
		}
	}
	if got := promptText(`"` + strings.Repeat("ä ", 250)); len([]rune(got)) != discover.PromptLimit {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
