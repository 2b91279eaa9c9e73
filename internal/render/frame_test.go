package render_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// A frame fits a screen of any size, and says how many rows are omitted.
func TestFrame(t *testing.T) {
	var sessions []object.Session
	for i, status := range []discover.Status{discover.Waiting, discover.Running, discover.Running, discover.Idle, discover.Stopped} {
		sessions = append(sessions, objectsOf(discover.Session{
			Record: &discover.Record{Agent: "codex", ID: fmt.Sprintf("%08d-x", i), Title: "日本語 \x1b[2J title"}, Status: status,
		})...)
	}
	look := render.TextOptions{Width: 70, Now: time.Date(2026, 11, 20, 12, 34, 56, 0, time.UTC)}
	want := `1 waiting, 2 running, 1 idle, 1 stopped  ·  12:34:56  ·  q quits
ID        AGENT  STATUS   TITLE
00000000  codex  waiting  日本語 title
00000001  codex  running  日本語 title
… 3 more
2 could not be read: one
`
	warnings := []string{"on\x1b[2Je", "two"}
	if got := strings.Join(render.Frame(sessions, warnings, look, 6), "\n") + "\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	for rows := 1; rows < 12; rows++ {
		for width := 1; width < 80; width++ {
			look.Width = width
			for n := range sessions {
				lines := render.Frame(sessions[:n], warnings[:n%3], look, rows)
				if len(lines) > rows {
					t.Fatalf("%d lines of %d", len(lines), rows)
				}
				for _, line := range lines {
					if w := displaywidth.String(line); w > width || strings.ContainsAny(line, "\n\x1b") {
						t.Fatalf("%q is %d wide, of %d", line, w, width)
					}
				}
			}
		}
	}
	if got := render.Frame(nil, nil, look, 24); len(got) != 2 || !strings.HasPrefix(got[0], "no sessions  ·  ") || got[1] != "" {
		t.Errorf("of none: %q", got)
	}
}
