package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFollow(t *testing.T) {
	at := func(s int) time.Time { return bootTime.Add(time.Duration(s) * time.Second) }
	a, b, c := numbered(1), numbered(2), numbered(3)
	cleared := map[string]time.Time{b: at(10).Add(20 * time.Millisecond), c: at(20)}
	for _, test := range []struct {
		name  string
		steps []typed
		last  string
		known bool
	}{
		{"nothing typed", nil, a, true},
		{"cleared", []typed{{"/clear", a, at(10)}}, b, true},
		{"twice", []typed{{"/clear", a, at(10)}, {"/clear", b, at(20)}}, c, true},
		{"and back", []typed{{"/clear", a, at(10)}, {"/resume " + a, b, at(15)}}, a, true},
		{"by another process", []typed{{"/clear", numbered(9), at(10)}}, a, true},
		{"to what is not there", []typed{{"/clear", a, at(50)}}, a, false},
		{"chosen from a list", []typed{{"/clear", a, at(10)}, {"/resume", b, at(15)}}, b, false},
	} {
		if last, known := follow(a, test.steps, cleared); last != test.last || known != test.known {
			t.Errorf("%s: %s, %v", test.name, last, known)
		}
	}
	cleared[c] = at(11)
	if _, known := follow(a, []typed{{"/clear", a, at(10)}}, cleared); known {
		t.Error("two sessions begun at the same time are told apart")
	}
}

func TestSwitches(t *testing.T) {
	dir := t.TempDir()
	since := bootTime
	line := func(words string, after time.Duration) string {
		return fmt.Sprintf(`{"display":%q,"pastedContents":{},"timestamp":%d,"project":"/w","sessionId":%q}`, words, since.Add(after).UnixMilli(), alive)
	}
	lines := []string{
		line("/clear", -time.Hour), line("/clear", time.Second), "torn", line("/clearly not", 2*time.Second), line("hello", 3*time.Second),
		line("/resume "+tui1, 4*time.Second), "\x00\xff", line("/clear", 5*time.Second),
	}
	must(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte(strings.Join(lines, "\n")), 0o600)) // the last line is unfinished
	got := switches(t.Context(), dir, since)
	if len(got) != 2 || got[0].words != "/clear" || got[1].words != "/resume "+tui1 || got[0].session != alive {
		t.Errorf("switches %+v", got)
	}
	if got := switches(t.Context(), t.TempDir(), since); len(got) != 0 {
		t.Errorf("without a history: %+v", got)
	}
}

func FuzzTyped(f *testing.F) {
	for _, fixture := range []string{"16-tui-clear-stale-id-2.1.75", "03-tui-live-clear-resume-compact-subagent-2.1.197"} {
		raw, err := os.ReadFile(filepath.Join(fixtures, fixture, "history.jsonl"))
		must(f, err)
		for line := range strings.Lines(string(raw)) {
			f.Add([]byte(strings.TrimSpace(line)))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := parseTyped(raw); len([]rune(got.words)) > 100 {
			t.Fatalf("%q", got.words)
		}
	})
}
