package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
)

// In the table the sessions that wait for the user come first. -n keeps the newest, in every format.
func TestListWaitingFirst(t *testing.T) {
	for args, want := range map[string]int{
		"list -a": 1, "list -a --wide": 1, "list -a -q": 2, "list -n 1": 2, "list -a -n 1": 2, "list -n 1 --wide": 2, "list -n 2": 1, "list -n 1 -q": 2, "list -n 1 --json": 2,
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

// --sort orders what is listed by one fact; sessions that are equal in it keep the order of activity.
func TestListSort(t *testing.T) {
	for key, want := range map[string]string{
		"last":    "aaaaaaaa-1 claude-code aaaaaaaa-2 cccccccc cccccccc dddddddd",
		"started": "aaaaaaaa-2 aaaaaaaa-1 claude-code cccccccc cccccccc dddddddd",
		"tokens":  "dddddddd aaaaaaaa-1 claude-code aaaaaaaa-2 cccccccc cccccccc",
		"agent":   "claude-code aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc dddddddd",
		"context": "dddddddd aaaaaaaa-1 claude-code aaaaaaaa-2 cccccccc cccccccc",
		"dir":     "claude-code aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc dddddddd",
	} {
		f, out := testEnv(t)
		for _, a := range f.Adapters {
			for i, r := range a.(Stub).Records {
				switch r.ID {
				case "aaaaaaaa-2":
					a.(Stub).Records[i].Created = Now()
				case "dddddddd":
					a.(Stub).Records[i].Tokens = &discover.Tokens{Total: 9, Context: 1, Window: 2}
				}
			}
		}
		Run(t.Context(), f, "list", "-a", "--since", "all", "--sort", key, "--format", "{{or .id .adapter}}")
		if got := strings.Join(strings.Fields(out.Stdout.String()), " "); got != want {
			t.Errorf("%s: %q, want %q; %s", key, got, want, out.Stderr.String())
		}
	}
	f, out := testEnv(t)
	f = WithChildren(f)
	for _, key := range []string{"cpu", "memory"} {
		out.Stdout.Reset()
		if Run(t.Context(), f, "list", "--sort", key, "-q"); out.Stdout.String() != "aaaaaaaa-2\naaaaaaaa-1\n" {
			t.Errorf("%s: %q; %s", key, out.Stdout.String(), out.Stderr.String())
		}
	}
	if exit := Run(t.Context(), f, "list", "--sort", "size"); exit != ExitUsage || !strings.Contains(out.Stderr.String(), "use one of: cpu, memory, tokens, context, started, last, agent, dir\n") {
		t.Errorf("exit %d, %s", exit, out.Stderr.String())
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
