package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// A search finds the sessions with a word. Where a page is damaged, it also returns those that it cannot read.
func TestFilterContent(t *testing.T) {
	const sessions = 60
	path := storeToDamage(t, sessions)
	entries, err := New().Entries(t.Context(), homeOf(filepath.Dir(path)), discover.EntryFilter{Subagents: true})
	must(t, err)
	filter := func(word string) []discover.Entry {
		return New().FilterContent(t.Context(), entries, func(b []byte) bool { return bytes.Contains(b, []byte(word)) })
	}
	for word, want := range map[string]int{"prompt 7\"": 1, "answer 3": 11, "xylophone": 0, "text": sessions} {
		if got := filter(word); len(got) != want {
			t.Errorf("%s: %d sessions, want %d", word, len(got), want)
		}
	}
	wanted := filter("prompt 7\"")[0].ID
	whole, err := os.ReadFile(path)
	must(t, err)
	damages := 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		writeFile(t, path, damage(whole, page))
		got := filter("prompt 7\"")
		found := false
		for _, e := range got {
			found = found || e.ID == wanted
		}
		if !found {
			t.Errorf("page %d: the session is not among %d", page, len(got))
		}
		if len(got) > 1 {
			damages++
		}
	}
	if damages < 5 {
		t.Errorf("%d damages", damages)
	}
}
