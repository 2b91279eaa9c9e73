package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
)

// filterContent filters the entries: first some, then the others. known reports whether all parts were read at once.
func filterContent(t *testing.T, entries []discover.Entry, first int, word string) (ids []string, known bool) {
	t.Helper()
	f := contentFilter{ctx: t.Context(), match: func(b []byte) bool { return bytes.Contains(b, []byte(word)) }, databases: map[batchKey]*filteredDatabase{}}
	d := &filteredDatabase{wanted: len(entries)}
	f.databases[batchKey{entries[0].Path, entries[0].Home}] = d
	for _, e := range slices.Concat(f.filter(entries[:first]), f.filter(entries[first:])) {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	return ids, d.found != nil
}

// Sessions of a database are filtered one by one or all at once, with the same result, whatever page is damaged.
func TestFilterContent(t *testing.T) {
	const sessions = 60
	path := storeToDamage(t, sessions)
	entries, err := New().Entries(t.Context(), homeOf(filepath.Dir(path)), discover.EntryFilter{Subagents: true})
	must(t, err)
	for word, want := range map[string]int{"prompt 7\"": 1, "answer 3": 11, "xylophone": 0, "text": sessions} {
		alone, _ := filterContent(t, entries, sessions, word)
		got, known := filterContent(t, entries, 1, word)
		if len(got) != want || !known || !slices.Equal(got, alone) {
			t.Errorf("%s: %d sessions, one by one %d, want %d; all at once: %v", word, len(got), len(alone), want, known)
		}
	}
	if _, known := filterContent(t, entries[:sessions/worthAll-1], 1, "text"); known {
		t.Error("all parts are read for a few sessions")
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	damages := 0
	for page := 2; page <= len(whole)/damagedPage; page++ {
		writeFile(t, path, damage(whole, page))
		alone, _ := filterContent(t, entries, sessions, "prompt 7\"")
		got, known := filterContent(t, entries, 1, "prompt 7\"")
		if !slices.Equal(got, alone) {
			t.Errorf("page %d: %q, one by one %q; all at once: %v", page, got, alone, known)
		}
		if len(alone) > 1 {
			damages++
		}
	}
	if damages < 5 {
		t.Errorf("%d damages", damages)
	}
}
