package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

func TestFollowSwitches(t *testing.T) {
	at := func(s int) time.Time { return bootTime.Add(time.Duration(s) * time.Second) }
	a, b, c := numbered(1), numbered(2), numbered(3)
	cleared := map[string]time.Time{b: at(10).Add(20 * time.Millisecond), c: at(20)}
	for _, test := range []struct {
		name  string
		steps []historyEntry
		last  string
		known bool
	}{
		{"nothing typed", nil, a, true},
		{"cleared", []historyEntry{{"/clear", a, at(10)}}, b, true},
		{"twice", []historyEntry{{"/clear", a, at(10)}, {"/clear", b, at(20)}}, c, true},
		{"and back", []historyEntry{{"/clear", a, at(10)}, {"/resume " + a, b, at(15)}}, a, true},
		{"by another process", []historyEntry{{"/clear", numbered(9), at(10)}}, a, true},
		{"to what is not there", []historyEntry{{"/clear", a, at(50)}}, a, false},
		{"chosen from a list", []historyEntry{{"/clear", a, at(10)}, {"/resume", b, at(15)}}, b, false},
	} {
		if last, known := followSwitches(a, test.steps, cleared); last != test.last || known != test.known {
			t.Errorf("%s: %s, %v", test.name, last, known)
		}
	}
	cleared[c] = at(11)
	if _, known := followSwitches(a, []historyEntry{{"/clear", a, at(10)}}, cleared); known {
		t.Error("two sessions begun at the same time are readMessages apart")
	}
}

func TestSessionSwitches(t *testing.T) {
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
	got, err := sessionSwitches(t.Context(), dir, since)
	if err == nil || !strings.Contains(err.Error(), "damaged lines: 2 ") {
		t.Errorf("two damaged lines: %v", err)
	}
	if len(got) != 2 || got[0].text != "/clear" || got[1].text != "/resume "+tui1 || got[0].session != alive {
		t.Errorf("switches %+v", got)
	}
	if got, err := sessionSwitches(t.Context(), t.TempDir(), since); len(got) != 0 || err != nil {
		t.Errorf("without a history: %+v, %v", got, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte("torn\n"+line("/clear", -time.Hour)+"\n\n"+line("/clear", time.Second)+"\n"), 0o600))
	if got, err := sessionSwitches(t.Context(), dir, since); len(got) != 1 || err != nil {
		t.Errorf("damaged before that time only: %+v, %v", got, err)
	}
}

// A history that cannot be read is a warning, since the process's session is not known for certain then.
func TestUnreadableHistoryIsAWarning(t *testing.T) {
	dir, path := home(t, "16-tui-clear-stale-id-2.1.112"), ""
	own := node112(28263, 155384, dir, "/srv/claude-lab/w/t2.1.112")
	for name, spoil := range map[string]func(){
		"FIFO":      func() { must(t, os.Remove(path)); must(t, syscall.Mkfifo(path, 0o600)) },
		"directory": func() { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o700)) },
		"damaged":   func() { must(t, os.Remove(path)); must(t, os.WriteFile(path, []byte("{\"display\":\"/cl\n"), 0o600)) },
	} {
		path = historyPath(dir)
		spoil()
		got, err := New().Claims(t.Context(), proc.NewFakeTable(own), []discover.Home{{Dir: dir}})
		if warned := warningsIn(t, err); len(warned) != 1 || warned[0].Path != path {
			t.Errorf("%s: warnings %v", name, warned)
		}
		for _, claim := range sessions(got) {
			if claim.Strength != discover.Weak {
				t.Errorf("%s: %+v", name, claim)
			}
		}
	}
}

func FuzzHistoryEntry(f *testing.F) {
	for _, fixture := range []string{"16-tui-clear-stale-id-2.1.75", "03-tui-live-clear-resume-compact-subagent-2.1.197"} {
		raw, err := os.ReadFile(filepath.Join(fixtures, fixture, "history.jsonl"))
		must(f, err)
		for line := range strings.Lines(string(raw)) {
			f.Add([]byte(strings.TrimSpace(line)))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := parseHistoryEntry(raw); len([]rune(got.text)) > 100 {
			t.Fatalf("%q", got.text)
		}
	})
}
