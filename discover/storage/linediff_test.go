package storage_test

import (
	"agentctl/discover/storage"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDiffLines(t *testing.T) {
	for name, c := range map[string]struct {
		before, after  string
		added, removed int
	}{
		"nothing":           {"", "", 0, 0},
		"a new text":        {"", "a\nb\n", 2, 0},
		"no text":           {"a\nb", "", 0, 2},
		"the same":          {"a\nb\n", "a\nb\n", 0, 0},
		"a line at the end": {"a", "a\nb", 1, 0},
		"a line between":    {"a\nc", "a\nb\nc", 1, 0},
		"one for three":     {"a\nb\nc\nd\ne", "a\nx\ne", 1, 3},
		"two places":        {"a\nb\nc\nd\n", "x\nb\nc\ny\n", 2, 2},
		"an empty line":     {"a\n\nb", "a\nb", 0, 1},
	} {
		if added, removed, ok := storage.DiffLines(c.before, c.after); !ok || added != c.added || removed != c.removed {
			t.Errorf("%s: +%d -%d %v", name, added, removed, ok)
		}
	}
	if _, _, ok := storage.DiffLines(strings.Repeat("a\n", 1<<20), strings.Repeat("b\n", 1<<20)); ok {
		t.Error("a million lines are counted")
	}
}

// The counts are those of the longest common subsequence, whatever the texts are.
func TestDiffLinesIsShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var texts [2][]string
		for i := range texts {
			for range random.IntN(12) {
				texts[i] = append(texts[i], string(rune('a'+random.IntN(3))))
			}
		}
		common := longestCommon(texts[0], texts[1])
		added, removed, ok := storage.DiffLines(strings.Join(texts[0], "\n"), strings.Join(texts[1], "\n"))
		if !ok || added != len(texts[1])-common || removed != len(texts[0])-common {
			t.Fatalf("%q: +%d -%d %v, %d in common", texts, added, removed, ok, common)
		}
	}
}

func longestCommon(a, b []string) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case a[0] == b[0]:
		return 1 + longestCommon(a[1:], b[1:])
	}
	return max(longestCommon(a[1:], b), longestCommon(a, b[1:]))
}

// An edit that does not say what it replaces is not counted.
func TestEditKeysDiffLines(t *testing.T) {
	keys := storage.EditKeys{Old: "old", New: "new", All: "all"}
	for input, want := range map[string][2]int{
		`{"old":"a","new":"b\nc"}`:                                   {2, 1},
		`{"old":"a","new":"","all":false}`:                           {0, 1},
		`{"edits":[{"old":"a","new":"b"},{"old":"c","new":"c\nd"}]}`: {2, 1},
		`{"old":"a","new":"b","all":true}`:                           {-1, -1},
		`{"old":"","new":"b"}`:                                       {-1, -1},
		`{"old":"a"}`:                                                {-1, -1},
		`{"edits":[]}`:                                               {-1, -1},
		`{"edits":[{"old":"a","new":"b"},{"old":"a","new":"b","all":true}]}`: {-1, -1},
		`[]`: {-1, -1},
	} {
		added, removed, ok := keys.DiffLines(storage.Object(input))
		if got := [2]int{added, removed}; ok == (want[0] < 0) || ok && got != want {
			t.Errorf("%s: %v %v, want %v", input, got, ok, want)
		}
	}
}
