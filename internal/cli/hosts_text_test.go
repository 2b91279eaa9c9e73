package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// The text of a host is that of this machine, with H: before each ID.
func TestTextOfAHost(t *testing.T) {
	world := func(width int) (Env, *Output) {
		f, out := WithMessages(t)
		s := f.Adapters[1].(Stub)
		s.ClaimList[1].Turn = &discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission"}
		s.Transcripts["aaaaaaaa-1"] = s.Transcripts["aaaaaaaa-1"][:2] // none of them is the call that waits
		s.Answers = map[string][]discover.Usage{
			"aaaaaaaa-1": {usageAnswer("opus", time.Hour), costs(usageAnswer("sonnet", 2*time.Hour), 1.5)}, "eeeeeeee-1": {usageAnswer("opus", time.Hour)},
		}
		f.Adapters[1], f.Width = s, width
		return f, out
	}
	ofHost := regexp.MustCompile("(?m)^(host +local|- Host: `local`)\n")
	for _, args := range []string{
		"list", "list -a --since all", "list -q -a", "list --format {{.id}}", "list --wide", "list --orphans",
		"status ID", "status ID --explain", "status ID --alive", "status nothing",
		"peek ID", "peek ID -n 1", "peek aaaaaaaa-2 --children", "logs ID --tools -n 0", "peek ffffffff",
		"export ID", "search pass", "search -l tests", "search -n 1 e", "search nowhere",
		"usage", "usage --by session", "usage --by model", "usage --by project --since all", "usage --limits",
		"stop ID --dry-run", "stop ID pid:20 --dry-run", "stop nothing", "rm --dry-run --older-than 1s", "rm --yes aaaaaaaa-2", "rm --yes ID",
	} {
		for _, width := range []int{0, 300} {
			words := strings.Fields(strings.ReplaceAll(args, "ID", "aaaaaaaa-1"))
			f, out := world(width)
			wantExit := Run(t.Context(), f, words...)
			want := columns(out.Stdout.String())
			out.Stdout.Reset()
			exit := Run(t.Context(), f, append(words, "--host", "local")...)
			got := columns(strings.ReplaceAll(ofHost.ReplaceAllString(out.Stdout.String(), ""), "local:", ""))
			if got != want || exit != wantExit {
				t.Errorf("%s, %d columns: exit %d\n%s\nwant %d\n%s%s", args, width, exit, got, wantExit, want, out.Stderr.String())
			}
		}
	}
}

// columns returns a text with one blank between two columns: H: makes one wider.
func columns(text string) string { return regexp.MustCompile(`  +|─+`).ReplaceAllString(text, " ") }
