package storage_test

import (
	"strings"
	"testing"

	"agentctl/discover/storage"
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
