package ancestry

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// Agents of these tests.
const (
	Codex    discover.Agent = "codex"
	OpenCode discover.Agent = "opencode"
)

// sandboxAdapter is an agent whose sandboxes are the processes named box.
type sandboxAdapter struct{ stub.Adapter }

func (sandboxAdapter) IsSandbox(p proc.Process) bool { return p.Name == "box" }

func noMark(string) string { return "" }

// box is an agent's sandbox, marked as for a tool of the session.
func box(pid int, mark string) proctest.Process {
	f := stub.Process(pid, "now", 'S')
	f.Name, f.Parent, f.Environ = "box", 0, map[string]string{"MARK": mark}
	return f
}

// Inside of a sandbox with a process table of its own, its mark names the session, and nothing else is called stopped.
func TestCurrentInsideASandboxWithItsOwnTable(t *testing.T) {
	tool := stub.Process(2, "now", 'S')
	tool.Parent = 1
	scanner := stub.NewScanner(func() *proc.Table { return proctest.NewTable(box(1, "one"), tool) },
		sandboxAdapter{stub.Adapter{Agent: Codex, Records: []discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 2)}}})
	r, err := Current(t.Context(), scanner, 2, noMark)
	if err != nil || stub.Statuses(r.Sessions) != "one:running" || r.Sessions[0].Dir != "/w" || len(r.Warnings) != 0 {
		t.Errorf("current: %s, %v, %v", stub.Statuses(r.Sessions), r.Warnings, err)
	}
	r, err = scanner.List(t.Context(), discover.SessionFilter{IncludeStopped: true})
	if err != nil || stub.Statuses(r.Sessions) != "two:unknown one:unknown" || len(r.Warnings) != 1 || r.ProcessesUnknown {
		t.Errorf("list: %s, %v, blind %t, %v", stub.Statuses(r.Sessions), r.Warnings, r.ProcessesUnknown, err)
	}
	if got := stub.Statuses(EnclosingSessions(scanner, r, 2, noMark)); got != "one:running" {
		t.Errorf("inside: %s", got)
	}
}

// A sandbox without a mark names none; and one that the agent can be seen from says less than the agent's own evidence.
func TestCurrentOfASandboxWithoutAMarker(t *testing.T) {
	tool, plain, inner := stub.Process(9, "now", 'S'), stub.Process(8, "now", 'S'), box(8, "one")
	tool.Parent, plain.Parent = 8, 0
	inner.Parent = 7
	m := sandboxAdapter{stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("two", 7)}, Records: []discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 1)}}}
	for name, tc := range map[string]struct {
		outer []proctest.Process
		want  string
	}{
		"unmarked":   {[]proctest.Process{box(8, "")}, ""},
		"no sandbox": {[]proctest.Process{plain}, ""},
		"seen":       {[]proctest.Process{inner, stub.Process(7, "now", 'S')}, "two:idle"},
	} {
		scanner := stub.NewScanner(func() *proc.Table { return proctest.NewTable(append(tc.outer, tool)...) }, m)
		r, err := Current(t.Context(), scanner, 9, func(string) string { return "one" })
		if stub.Statuses(r.Sessions) != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, discover.ErrNotFound) {
			t.Errorf("%s: %s, %v", name, stub.Statuses(r.Sessions), err)
		}
	}
}

// An agent that does not show what it has open is named by its mark, one that shows it never.
func TestCurrentByTheMarkerOfAnUnreadableAgent(t *testing.T) {
	tool := stub.Process(8, "now", 'S')
	tool.Parent = 7
	presence := discover.Claim{Agent: Codex, Process: proc.ID{PID: 7, Birth: "now"}, Strength: discover.Exact, Kind: "process"}
	for unreadable, want := range map[string]string{"permission denied": "one:running", "": ":running"} {
		presence.Unreadable = unreadable
		m := stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{presence}, Records: []discover.Record{stub.Record(Codex, "one", 1)}}
		scanner := stub.NewScanner(func() *proc.Table { return proctest.NewTable(stub.Process(7, "now", 'S'), tool) }, m)
		r, err := Current(t.Context(), scanner, 8, func(string) string { return "one" })
		if err != nil || stub.Statuses(r.Sessions) != want || len(r.Warnings) != 0 {
			t.Errorf("%q: %s, %v, %v", unreadable, stub.Statuses(r.Sessions), r.Warnings, err)
		}
	}
}

// enclosingAdapter is an agent that marks the environment of what it runs in a sandbox; its program is named agent.
type enclosingAdapter struct{ stub.Adapter }

func (enclosingAdapter) InSandbox(getenv func(string) string) bool { return getenv("BOXED") == "1" }
func (enclosingAdapter) IsAgentProcess(p proc.Process) bool        { return p.Name == "agent" }

// Where the agent that has marked us as in its sandbox cannot be seen, its mark names the session and nothing else is called
// stopped, whether there is a process table of the sandbox or none of ours.
func TestCurrentInsideADetectedSandbox(t *testing.T) {
	tool, helper, agent := stub.Process(9, "now", 'S'), stub.Process(8, "now", 'S'), stub.Process(7, "now", 'S')
	tool.Parent, helper.Parent, agent.Name = 8, 7, "agent"
	foreign := fmt.Errorf("%w: as it is", proc.ErrNamespace)
	for name, tc := range map[string]struct {
		seen          []proctest.Process
		err           error
		boxed         string
		list, current string
		blind         bool
	}{
		"a table of its own":     {[]proctest.Process{helper, tool}, nil, "1", "two:unknown one:unknown", "one:running", false},
		"another one's":          {[]proctest.Process{tool}, foreign, "1", "two:unknown one:unknown", "one:running", false},
		"another one's, no mark": {[]proctest.Process{tool}, foreign, "", "two:unknown one:unknown", "", true},
		"no mark":                {[]proctest.Process{helper, tool}, nil, "", "two:stopped one:stopped", "", false},
		"the agent is seen":      {[]proctest.Process{agent, helper, tool}, nil, "1", "two:stopped one:stopped", "", false},
		"something else failed":  {nil, errors.New("no"), "1", "two:unknown one:unknown", "", true},
	} {
		getenv := func(key string) string { return map[string]string{"BOXED": tc.boxed, "MARK": "one"}[key] }
		scanner := stub.NewScanner(nil, enclosingAdapter{stub.Adapter{Agent: Codex, Records: []discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 2)}}})
		scanner.PID = 9
		scanner.HomeSources = func(discover.Agent) discover.HomeSources { return discover.HomeSources{Getenv: getenv} }
		scanner.ReadTable = func(context.Context, bool) (*proc.Table, error) { return proctest.NewTable(tc.seen...), tc.err }
		r, err := scanner.List(t.Context(), discover.SessionFilter{IncludeStopped: true})
		if err != nil || stub.Statuses(r.Sessions) != tc.list || r.ProcessesUnknown != tc.blind || (len(r.Warnings) > 0) != (tc.blind || tc.list == "two:unknown one:unknown") {
			t.Errorf("%s: list: %s, %v, blind %t, %v", name, stub.Statuses(r.Sessions), r.Warnings, r.ProcessesUnknown, err)
		}
		r, err = Current(t.Context(), scanner, 9, getenv)
		if stub.Statuses(r.Sessions) != tc.current || (err == nil) != (tc.current != "") || err == nil && (r.Sessions[0].Dir != "/w" || len(r.Warnings) > 0) {
			t.Errorf("%s: current: %s, %v, %v", name, stub.Statuses(r.Sessions), r.Warnings, err)
		}
	}
}

func TestCurrent(t *testing.T) {
	shell, tool := stub.Process(20, "now", 'S'), stub.Process(21, "now", 'S')
	shell.Parent, tool.Parent = 7, 20
	m := stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("one", 7), stub.ExactClaim("two", 7)}, Records: []discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 1)}}
	scanner := stub.NewScanner(func() *proc.Table {
		return proctest.NewTable(stub.Process(7, "now", 'S'), shell, tool, stub.Process(30, "now", 'S'))
	}, m)
	mark := func(v string) func(string) string { return func(string) string { return v } }

	if r, err := Current(t.Context(), scanner, 21, mark("two")); err != nil || stub.Statuses(r.Sessions) != "two:idle" {
		t.Errorf("marked: %s, %v", stub.Statuses(r.Sessions), err)
	}
	var ambiguous *discover.AmbiguousError
	for _, env := range []string{"", "gone"} {
		if _, err := Current(t.Context(), scanner, 21, mark(env)); !errors.As(err, &ambiguous) {
			t.Errorf("mark %q: %v, want ambiguous", env, err)
		}
	}
	if _, err := Current(t.Context(), scanner, 30, mark("two")); !errors.Is(err, discover.ErrNotFound) {
		t.Errorf("a mark without the ancestor counts: %v", err)
	}
}

// Without a process table the error says why the session cannot be told, not that there is none.
func TestCurrentWithoutAProcessTable(t *testing.T) {
	scanner := stub.NewScanner(nil, stub.Adapter{Agent: Codex, Records: []discover.Record{stub.Record(Codex, "a", 1)}})
	scanner.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc") }
	if _, err := Current(t.Context(), scanner, 1, func(string) string { return "" }); err == nil || errors.Is(err, discover.ErrNotFound) {
		t.Errorf("%v, want the reason", err)
	}
}
