package top

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/internal/terminal"
)

// manyKinds returns sessions of each status, in texts of all widths.
func manyKinds() (list []discover.Session) {
	for i, status := range []discover.Status{discover.Waiting, discover.Running, discover.Idle, discover.Stopped, discover.Unknown} {
		s := session(fmt.Sprintf("id-%d", i), status, "/w/目录/👩‍👩‍👧", []string{"漢字 テスト", "👍🏽 emoji", "e\u0301 combined", "🇩🇪 flag", "plain"}[i])
		if status == discover.Waiting {
			s.WaitingFor, s.WaitingOn = "permission", &discover.WaitingOn{Tool: "Bash", Brief: "rm 'ファイル' 🗑️"}
		}
		if status == discover.Stopped {
			s.Outcome, s.Error = discover.Failed, "overloaded"
		}
		list = append(list, s)
	}
	return list
}

// sgr finds the sequences that set colours and attributes.
func sgr() *regexp.Regexp { return regexp.MustCompile("\x1b\\[([0-9;]*)m") }

// No colour has a meaning of its own: without colours, each line is the same but for the sequences. The colours are readable on light
// and on dark backgrounds: none is black, white or yellow, unless it has a background of its own.
func TestColors(t *testing.T) {
	for _, keys := range [][]terminal.Key{nil, {' ', 'j'}, {'i'}, {'?'}, {'K'}, {'/', 'x'}} {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
			plain, colored := newScreen(t, manyKinds()...), newScreen(t, manyKinds()...)
			colored.call.Style.Color = true
			plain.types(keys...)
			colored.types(keys...)
			want, got := plain.frame(size[0], size[1]), colored.frame(size[0], size[1])
			text := strings.Join(got, "\n")
			for i := range got {
				got[i] = strings.TrimRight(output.WithoutColor(got[i]), " ")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v %v:\n%s\nwithout colours:\n%s", keys, size, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			for _, found := range sgr().FindAllStringSubmatch(text, -1) {
				if !slices.Contains([]string{"", "0", "1", "2", "7", "31", "32", "35", "36", "30;43"}, found[1]) {
					t.Errorf("%v: colour %q", keys, found[1])
				}
			}
		}
	}
	shown := newScreen(t, manyKinds()...).shown(200, 50)
	for _, want := range []string{"\n>   waiting (permission)", "running", "idle", "stopped (error)", "unknown"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}

// The columns of the table begin at one place in all rows, however wide the characters before them are.
func TestWideCharacters(t *testing.T) {
	for _, width := range []int{60, 80, 150, 300} {
		lines := newScreen(t, manyKinds()...).frame(width, 20)[1:7]
		for _, title := range []string{"DIR", "TITLE"} {
			before, _, found := strings.Cut(lines[0], title)
			if !found {
				t.Errorf("%d columns: no column %s", width, title)
				continue
			}
			at := output.DisplayWidth(before)
			for _, line := range lines[1:] {
				if !beginsAt(line, at) {
					t.Errorf("%d columns, %s at %d: %q", width, title, at, line)
				}
			}
		}
	}
}

// beginsAt reports whether a text begins at this place of a line, after two blanks.
func beginsAt(line string, at int) bool {
	for i, r := range line {
		if output.DisplayWidth(line[:i]) == at && strings.HasSuffix(line[:i], "  ") && r != ' ' {
			return true
		}
	}
	return false
}

// A screen that is too small for all parts says so, and still answers.
func TestTooSmall(t *testing.T) {
	m := newScreen(t, manyKinds()...)
	for size, want := range map[[2]int]string{
		{59, 15}: "59×15 is too small: top needs 60×15", {60, 14}: "60×14 is too small: top needs 60×15", {10, 2}: "10×2 is t…", {60, 15}: "q quit",
	} {
		if lines := m.frame(size[0], size[1]); !strings.HasSuffix(lines[len(lines)-1], want) {
			t.Errorf("%v: %q", size, lines[len(lines)-1])
		}
	}
	m.types('K')
	if text := m.shown(50, 10); !strings.HasSuffix(text, "[y/N] ▏") {
		t.Error(text)
	}
}

// The pane and the selected row stay in sight at each size, whichever the size was before.
func TestResize(t *testing.T) {
	var sessions []discover.Session
	for i := range 60 {
		sessions = append(sessions, session(fmt.Sprintf("id-%02d", i), discover.Running, "/w", fmt.Sprintf("title %02d", i)))
	}
	m := newScreen(t, sessions...)
	m.types('G', terminal.Enter)
	for _, size := range [][2]int{{80, 24}, {300, 100}, {60, 15}, {170, 15}, {20, 5}, {169, 100}, {60, 100}, {300, 15}} {
		text := m.shown(size[0], size[1])
		if size[1] >= 15 && !strings.Contains(text, "\n>   running") || !strings.Contains(text, "── peek: $ ag") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}
