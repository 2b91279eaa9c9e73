package output_test

import (
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/output"
)

// The call fits on one line and is sanitized.
func TestWaitingOnText(t *testing.T) {
	for want, on := range map[string]*discover.WaitingOn{
		"":                         nil,
		"Bash: rm -rf build":       {Tool: "Bash", Brief: "rm -rf \x1b[31mbuild\n"},
		"question: Which? Really?": {Tool: "question", Brief: "Which?", Questions: []string{"Which?", "Really?"}},
		"Plan":                     {Tool: "Plan"},
		"-: x":                     {Brief: "x"},
	} {
		if got := output.WaitingOnText(on); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out strings.Builder
	s := completeSession()
	if err := output.Details(&out, s, output.Resources{}, nil, output.TextOptions{Now: now}); err != nil || !strings.Contains(out.String(), "waiting (permission): shell: Go on?") {
		t.Errorf("%s%v", out.String(), err)
	}
}
