package completion_test

import (
	"strings"
	"testing"

	"agentctl/internal/cmd"
	"agentctl/tests/cmdtest"
)

// The words come in one argument, and the answer has three texts for each candidate, none of them empty.
func TestCompletePowerShell(t *testing.T) {
	for typed, want := range map[string]string{
		"li":                  "list",
		"completion\npower":   "powershell",
		"list\n--status\nrun": "running",
		"list\n--nothing":     "",
	} {
		f, out := cmdtest.New(t)
		cmd.Run(t.Context(), f, "__complete", "powershell", typed)
		records := strings.Split(out.Stdout.String(), "\x00")
		if want == "" && len(records) == 1 {
			continue
		}
		if len(records)%3 != 1 || records[0] != want || records[1] != want || records[2] == "" {
			t.Errorf("%q: %q, want %s", typed, records, want)
		}
	}
}
