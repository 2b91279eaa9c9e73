package ancestry

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// marking is an agent whose tools have the marker of their session.
type marking struct{ stub.Adapter }

func (m marking) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env("MARK")
	return err == nil && env["MARK"] == s.ID
}

// machine is a table of processes of one user: pid, parent and session of the kernel, and the session that a mark names.
type machine []proctest.Process

func (m *machine) add(pid, parent, session int, mark string) {
	f := stub.Process(pid, "now", 'S')
	f.Parent, f.Session, f.Ticks = parent, session, uint64(pid)
	if mark != "" {
		f.Environ = map[string]string{"MARK": mark}
	}
	*m = append(*m, f)
}

func (m machine) tree(t *testing.T, of string, adapters ...discover.Adapter) string {
	t.Helper()
	scanner := stub.NewScanner(func() *proc.Table { return proctest.NewTable(m...) }, adapters...)
	r, err := scanner.Find(t.Context(), of, nil, discover.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range NewTrees(scanner, r, r.Sessions[:1]).Tree(r.Sessions[0]) {
		text := fmt.Sprint(b.ID.PID)
		for _, k := range b.Sessions {
			text += "=" + k.ID
		}
		if b.Shared {
			text += "*"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// The tree has what descends from the session's process, by whichever bond, and of another session only its top.
func TestTree(t *testing.T) {
	var m machine
	m.add(1, 0, 1, "")
	m.add(10, 5, 5, "")      // the session's
	m.add(11, 10, 11, "one") // its shell, and what that runs
	m.add(12, 11, 11, "one")
	m.add(13, 1, 13, "one")  // what another shell has left behind, and its child
	m.add(14, 13, 13, "one") //
	m.add(15, 11, 11, "one") // another session, started by the shell, and its tools
	m.add(16, 15, 15, "two")
	m.add(17, 1, 17, "two") // what those left behind
	m.add(18, 10, 5, "")    // a server without a mark
	m.add(19, 1, 19, "")    // of no session
	m.add(20, 1, 20, "one") // an agent of its own, whoever has started it
	m.add(9, 1, 9, "one")   // what an earlier process of the session has left behind
	dead := stub.Process(21, "now", 'Z')
	dead.Parent = 10
	m = append(m, dead)
	adapter := marking{stub.Adapter{
		Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("one", 10), stub.ExactClaim("two", 15), stub.ExactClaim("far", 20)},
		Records: []discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 2), stub.Record(Codex, "gone", 3)},
	}}
	for of, want := range map[string]string{
		"one": "10 11 12 15=two 18 13 14 9", "two": "15 16 17", "far": "20", "gone": "",
	} {
		if got := m.tree(t, of, adapter); got != want {
			t.Errorf("of %s: %s, want %s", of, got, want)
		}
	}
}

// A process that runs several sessions is in the tree of each; a tool in that of the one whose marker it has.
func TestTreeOfASharedProcess(t *testing.T) {
	var m machine
	m.add(10, 1, 10, "")
	m.add(11, 10, 11, "one")
	m.add(12, 10, 12, "two")
	m.add(13, 12, 12, "two")
	m.add(14, 10, 10, "")
	m.add(15, 14, 10, "")
	one, two := stub.ExactClaim("one", 10), stub.ExactClaim("two", 10)
	one.Shared, two.Shared = true, true
	adapter := marking{stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{one, two}}}
	for of, want := range map[string]string{"one": "10* 11 12=two 14* 15*", "two": "10* 11=one 12 13 14* 15*"} {
		if got := m.tree(t, of, adapter); got != want {
			t.Errorf("of %s: %s, want %s", of, got, want)
		}
	}
}

// A tool of an agent inside of another has the markers of both.
func TestTreeInsideAnotherTree(t *testing.T) {
	var m machine
	m.add(10, 5, 5, "")
	m.add(15, 10, 10, "one")
	m.add(17, 1, 17, "one")
	m[2].Environ["OTHER"] = "two"
	outer := marking{stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("one", 10)}}}
	inner := stub.ExactClaim("two", 15)
	inner.Agent = OpenCode
	other := otherMark{stub.Adapter{Agent: OpenCode, ClaimList: []discover.Claim{inner}}}
	for of, want := range map[string]string{"one": "10 15=two", "two": "15 17"} {
		if got := m.tree(t, of, outer, other); got != want {
			t.Errorf("of %s: %s, want %s", of, got, want)
		}
	}
}

// otherMark is an agent with a mark of another name.
type otherMark struct{ stub.Adapter }

func (otherMark) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env("OTHER")
	return err == nil && env["OTHER"] == s.ID
}

func (otherMark) MarkerKeys() []string { return []string{"OTHER"} }

func (otherMark) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	return discover.EnvMarker{Session: getenv("OTHER")}, getenv("OTHER") != ""
}
