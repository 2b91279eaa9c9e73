package render_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
)

// docs/json.md shows the event exactly as it is printed.
func TestEventEqualsDocsExample(t *testing.T) {
	s := discover.Session{
		Record: &discover.Record{
			Agent: "claude-code", ID: "e226c6c2-71f1-4dd8-9d83-1b4d2a9a5f10", Dir: "/home/me/src/api",
			Title: "fix the flaky login test", Source: "tui", Updated: now.Add(-300 * time.Millisecond),
		},
		Status: discover.Waiting, WaitingFor: "permission",
		Processes: []proc.Process{{ID: proc.ID{PID: 23113, Birth: "b/1"}, Started: now.Add(-time.Hour)}},
	}
	var line strings.Builder
	if err := render.JSONLine(&line, object.NewEvent(watch.Event{Type: watch.SessionWaiting, Time: now, Session: s})); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "```json event\n"+line.String()+"```\n") {
		t.Errorf("docs/json.md lacks %s", line.String())
	}
}
