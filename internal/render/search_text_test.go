package render

import (
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/search"
	"agentctl/internal/object"
)

// The line of a session has no control characters, whatever its storage, its process or another machine says.
func TestSearchTextIsSanitized(t *testing.T) {
	const hostile = "\x1b]0;x\a"
	f := search.Found{Session: discover.Session{
		Record: &discover.Record{ID: "a" + hostile, Agent: "codex", Dir: "/dir" + hostile, Title: "title" + hostile},
		Status: discover.Waiting, WaitingFor: "permission" + hostile,
	}}
	var b strings.Builder
	found := object.NewFound(f)
	SearchText(&b, &found, TextOptions{})
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.ContainsAny(text, "\x1b\a\n") || !strings.Contains(text, "/dir") || !strings.Contains(text, "(permission") {
		t.Errorf("%q", text)
	}
}
