package discover

import (
	"errors"
	"testing"

	"agentctl/proc"
)

// boxing is an agent whose sandboxes are the processes named box.
type boxing struct{ memory }

func (boxing) Sandboxes(p proc.Process) bool { return p.Name == "box" }

func noMark(string) string { return "" }

// box is an agent's sandbox, marked as for a tool of the session.
func box(pid int, mark string) proc.Facts {
	f := fact(pid, "now", 'S')
	f.Name, f.Parent, f.Environ = "box", 0, map[string]string{"MARK": mark}
	return f
}

// Inside of a sandbox with a process table of its own, its mark names the session, and nothing else is called stopped.
func TestInsideOfASandbox(t *testing.T) {
	tool := fact(2, "now", 'S')
	tool.Parent = 1
	w := worldOf(func() *proc.Table { return proc.Of(box(1, "one"), tool) },
		boxing{memory{agent: Codex, records: []Record{record(Codex, "one", 1), record(Codex, "two", 2)}}})
	r, err := w.Current(t.Context(), 2, noMark)
	if err != nil || ids(r.Sessions) != "one:running" || r.Sessions[0].Dir != "/w" || len(r.Warnings) != 0 {
		t.Errorf("current: %s, %v, %v", ids(r.Sessions), r.Warnings, err)
	}
	r, err = w.List(t.Context(), Select{All: true})
	if err != nil || ids(r.Sessions) != "two:unknown one:unknown" || len(r.Warnings) != 1 || r.Blind {
		t.Errorf("list: %s, %v, blind %t, %v", ids(r.Sessions), r.Warnings, r.Blind, err)
	}
	if got := ids(w.Inside(r, 2, noMark)); got != "one:running" {
		t.Errorf("inside: %s", got)
	}
}

// A sandbox without a mark names none; and one that the agent can be seen from says less than the agent's own evidence.
func TestASandboxAlone(t *testing.T) {
	tool, plain, inner := fact(9, "now", 'S'), fact(8, "now", 'S'), box(8, "one")
	tool.Parent, plain.Parent = 8, 0
	inner.Parent = 7
	m := boxing{memory{agent: Codex, claims: []Claim{exact("two", 7)}, records: []Record{record(Codex, "one", 1), record(Codex, "two", 1)}}}
	for name, tc := range map[string]struct {
		outer []proc.Facts
		want  string
	}{
		"unmarked":   {[]proc.Facts{box(8, "")}, ""},
		"no sandbox": {[]proc.Facts{plain}, ""},
		"seen":       {[]proc.Facts{inner, fact(7, "now", 'S')}, "two:idle"},
	} {
		w := worldOf(func() *proc.Table { return proc.Of(append(tc.outer, tool)...) }, m)
		r, err := w.Current(t.Context(), 9, func(string) string { return "one" })
		if ids(r.Sessions) != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %s, %v", name, ids(r.Sessions), err)
		}
	}
}

// An agent that does not show what it has open is named by its mark, one that shows it never.
func TestTheMarkOfAHiddenAgent(t *testing.T) {
	tool := fact(8, "now", 'S')
	tool.Parent = 7
	presence := Claim{Agent: Codex, Process: proc.ID{PID: 7, Birth: "now"}, Strength: Exact, Kind: "process"}
	for unreadable, want := range map[string]string{"permission denied": "one:running", "": ":running"} {
		presence.Unreadable = unreadable
		m := memory{agent: Codex, claims: []Claim{presence}, records: []Record{record(Codex, "one", 1)}}
		w := worldOf(func() *proc.Table { return proc.Of(fact(7, "now", 'S'), tool) }, m)
		r, err := w.Current(t.Context(), 8, func(string) string { return "one" })
		if err != nil || ids(r.Sessions) != want || len(r.Warnings) != 0 {
			t.Errorf("%q: %s, %v, %v", unreadable, ids(r.Sessions), r.Warnings, err)
		}
	}
}
