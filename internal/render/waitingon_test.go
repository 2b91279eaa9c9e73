package render_test

import (
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// The call fits on one line and is sanitized.
func TestWaitingOnText(t *testing.T) {
	file := func(name string, diff *discover.Diff) *discover.WaitingOn {
		return &discover.WaitingOn{Tool: "Edit", Brief: name, Path: name, Diff: diff}
	}
	for want, on := range map[string]*discover.WaitingOn{
		"":                            nil,
		"Bash: rm -rf build":          {Tool: "Bash", Brief: "rm -rf \x1b[31mbuild\n"},
		"Bash: /w/a/run":              {Tool: "Bash", Brief: "/w/a/run"},
		"question: Which? Really?":    {Tool: "question", Brief: "Which?", Questions: []string{"Which?", "Really?"}},
		"Plan":                        {Tool: "Plan"},
		"-: x":                        {Brief: "x"},
		"Edit: sub/main.go +3 -0":     file("/w/a/sub/main.go", &discover.Diff{Added: 3, Removed: new(0)}),
		"Edit: /w/ab/main.go +0 -1":   file("/w/ab/main.go", &discover.Diff{Removed: new(1)}),
		"Edit: main.go +12":           file("/w/a/main.go", &discover.Diff{Added: 12}),
		"Edit: /w/a":                  file("/w/a", nil),
		"Edit: ../main.go":            file("../main.go", nil),
		"apply_patch: a.go, b.go +12": {Tool: "apply_patch", Brief: "a.go, b.go", Diff: &discover.Diff{Added: 12}},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "claude-code", Dir: "/w/a"}, Status: discover.Waiting, WaitingOn: on}
		obj := object.NewSession(s)
		if got := render.WaitingOnText(&obj); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out strings.Builder
	s := object.NewSession(completeSession())
	if err := render.Details(&out, &s, render.TextOptions{Now: now}); err != nil || !strings.Contains(out.String(), "waiting (permission): shell: Go on? +3 -1") {
		t.Errorf("%s%v", out.String(), err)
	}
}
