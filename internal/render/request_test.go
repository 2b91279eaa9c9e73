package render_test

import (
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

// What a session says cannot look like a line of ours, move the cursor, or hide a part of itself.
func TestRequestOfAHostileSession(t *testing.T) {
	lie := "ls\x1b[2K\r\nrequest    per_other\nalways     nothing\u202e\x07"
	id := "ses_1"
	r := object.Request{
		Session: object.Session{ID: &id, Adapter: "opencode", CWD: "/x\nsession    other", Title: "t\nasks       question: harmless"},
		ID:      "per_1\nrequest    per_2", Kind: "permission", Tool: "bash\nno         nothing", Text: lie, Reason: lie, Always: "allows\nrequest    per_3",
	}
	print := func() string {
		var b strings.Builder
		if err := render.Request(&b, &r, render.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, text := range []string{print(), func() string {
		r.Questions = []object.Question{{Header: lie, Text: lie, Choices: []object.Choice{{Label: lie, Description: lie}}}}
		return print()
	}()} {
		if strings.ContainsAny(text, "\x1b\r\x07\u202e") {
			t.Errorf("control characters: %q", text)
		}
		for _, ours := range []string{"session ", "asks ", "request ", "always ", "title "} {
			if n := strings.Count("\n"+text, "\n"+ours); n != 1 {
				t.Errorf("%d lines begin with %q:\n%s", n, ours, text)
			}
		}
	}
	if !strings.Contains(print(), "left out") {
		t.Error("nothing says that a part is not shown")
	}
	if text := render.ReplyText(&r); strings.Contains(text, "\n") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
