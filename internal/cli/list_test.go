package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
)

// In the table the sessions that wait for the user come first, and -n keeps them; other output keeps the order of activity.
func TestListWaitingFirst(t *testing.T) {
	for args, want := range map[string]int{
		"list -a": 1, "list -a --wide": 1, "list -a -q": 2, "list -n 1": 1, "list -a -n 1": 1, "list -n 1 --wide": 1, "list -n 1 -q": 2, "list -n 1 --json": 2,
	} {
		f, out := testEnv(t)
		codex := f.Adapters[1].(Stub)
		codex.Records[0].Turn, codex.Records[0].Updated = discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}, Now().Add(-90*time.Minute)
		Run(t.Context(), f, strings.Fields(args)...)
		lines := strings.Split(out.Stdout.String(), "\n")
		if want == 1 != strings.HasPrefix(lines[1], "aaaaaaaa-1 ") {
			t.Errorf("%s:\n%s", args, out.Stdout.String())
		}
	}
}

func TestWatchNeedsATerminal(t *testing.T) {
	for args, want := range map[string]string{
		"list --watch": "--watch needs a terminal", "list -w --json": "--watch and --json cannot be used together",
		"list -aw -q": "--watch and --quiet cannot be used together", "ls --watch --orphans": "--watch and --orphans cannot be used together",
	} {
		f, out := testEnv(t)
		f.Terminal = true // but it is no file
		if got := Run(t.Context(), f, strings.Fields(args)...); got != 2 || !strings.Contains(out.Stderr.String(), want) {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
}

// list --wide has it for every row, and is no form of its own.
func TestListWide(t *testing.T) {
	f, out := testEnv(t)
	f = WithChildren(f)
	if got := Run(t.Context(), f, "list", "--wide", "--json"); got != 0 {
		t.Fatalf("exit %d: %s", got, out.Stderr.String())
	}
	CheckSchema(t, "sessions", out.Stdout.String())
	var list []object.Session
	if err := json.Unmarshal(out.Stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	trees := map[string]int{}
	for _, s := range list {
		if s.ID != nil {
			trees[*s.ID] = len(s.Processes)
		}
	}
	if trees["aaaaaaaa-1"] != 5 || trees["aaaaaaaa-2"] != 1 || len(list) != 3 {
		t.Errorf("%v", out.Stdout.String())
	}
	out.Stdout.Reset()
	if got := Run(t.Context(), f, "list", "--wide"); got != 0 || !strings.Contains(out.Stdout.String(), "    1m  1m30s  4.0 MiB  3000 ") {
		t.Errorf("exit %d:\n%s", got, out.Stdout.String())
	}
	for _, form := range []string{"-q", "--format={{.id}}"} {
		if got := Run(t.Context(), f, "list", "--wide", form); got != 2 {
			t.Errorf("%s: exit %d", form, got)
		}
	}
	out.Stdout.Reset()
	if got := Run(t.Context(), f, "list", "--wide", "--group", "none", "--json"); got != 0 || out.Stdout.String() != "[]\n" {
		t.Errorf("exit %d: %q", got, out.Stdout.String())
	}
}

func TestEmptyListSpeaksOnTerminalOnly(t *testing.T) {
	f, out := testEnv(t)
	f.Adapters = nil
	for _, tc := range []struct {
		args  string
		width int
		want  string
	}{
		{"list", 80, "agentctl: no live sessions; agentctl list -a shows stopped ones too\n"},
		{"list -a", 80, "agentctl: no sessions; agentctl list -a --since all looks further back\n"},
		{"list", 0, ""},
		{"list -q", 80, ""},
	} {
		out.Stderr.Reset()
		f.Width = tc.width
		if got := Run(t.Context(), f, strings.Fields(tc.args)...); got != 0 || out.Stdout.Len() > 0 || out.Stderr.String() != tc.want {
			t.Errorf("%+v: %d %q %q", tc, got, out.Stdout.String(), out.Stderr.String())
		}
	}
}
