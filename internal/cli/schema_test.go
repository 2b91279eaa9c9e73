package cli

import (
	"strings"
	"testing"
)

func TestOutputFollowsSchema(t *testing.T) {
	for args, name := range map[string]string{
		"list --json":                        "sessions",
		"list -a --since all --json":         "sessions",
		"list --status stopped -n1 --json":   "sessions",
		"list --group none --json":           "sessions",
		"status aaaaaaaa-1 --json":           "session",
		"status pid:20 --json --explain":     "session",
		"status aaaaaaaa-2 --json --explain": "session",
		"current --json":                     "session",
		"version --json":                     "version",
		"doctor --json":                      "doctor",
		"usage --json":                       "usage",
		"usage --limits --json":              "limits",
		"du --json":                          "du",
	} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, strings.Fields(args)...); got != 0 {
			t.Errorf("%s: exit %d", args, got)
		}
		CheckSchema(t, name, out.Stdout.String())
	}
	for _, args := range []string{"list --json x", "status --json nothing", "status --json cccccccc"} {
		f, out := testEnv(t)
		Run(t.Context(), f, strings.Fields(args)...)
		CheckSchema(t, "error", out.Stderr.String())
	}
}
