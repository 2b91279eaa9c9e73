package transcript

import (
	"strings"
	"testing"

	"agentctl/discover"
)

func FuzzPrompt(f *testing.F) {
	for _, s := range []string{"hello", "<command-name>/x</command-name>", "<bash-input>ls</bash-input>", interruptedPrefix, strings.Repeat("é", 300), "<a", "x" + strings.Repeat(" ", 300), "x" + strings.Repeat(" y", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, words string) {
		l, ok := ParseRecord([]byte(`{"type":"user","message":{"content":` + strings.TrimSpace(asJSON(t, words)) + `}}`))
		if !ok {
			t.Fatal("not parsed")
		}
		prompt, _ := PromptOf(&l)
		if n := len([]rune(prompt)); n > discover.PromptLimit {
			t.Fatalf("%d characters", n)
		}
		if strings.HasPrefix(prompt, interruptedPrefix) || strings.HasPrefix(prompt, "<command-name>") {
			t.Fatalf("%q is nobody's prompt", prompt)
		}
		for _, b := range blocks(l.Content) {
			read := b.Text.Text(promptReadLimit)
			want, _ := stripPasteTags(read, len([]rune(read)) == promptReadLimit)
			want = strings.TrimSpace(want)
			if got, _ := textStart(b.Text); cut(got) != cut(want) || startsWithTag(got) != startsWithTag(want) {
				t.Fatalf("%q begins with %q, not %q", words, want, got)
			}
		}
	})
}
