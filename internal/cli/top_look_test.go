package cli

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/discover"
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
