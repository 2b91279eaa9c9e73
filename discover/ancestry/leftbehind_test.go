package ancestry

import (
	"testing"

	"agentctl/discover"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// A live session has what an earlier process of it has left behind, and nothing that may belong to another.
func TestLeftBehind(t *testing.T) {
	const session, other = 100, 40 // the session's process, and that of a session that was there before
	process := func(pid, parent int, environ string) proctest.Process {
		f := tool(pid, environ)
		f.Parent, f.Session, f.Ticks = parent, pid, uint64(pid)
		return f
	}
	named := func(f proctest.Process) proctest.Process { f.Name = "agent"; return f }
	of := func(f proctest.Process, uid int) proctest.Process { f.UID = uid; return f }
	in := func(f proctest.Process, dir string) proctest.Process { f.WorkingDir = dir; return f }
	twin := stub.ExactClaim("one", 45)
	twin.Path = "/q/one"
	copies := []discover.Record{stub.Record(Codex, "one", 1)}
	copies[0].Path, copies[0].Dir = twin.Path, "/elsewhere"
	for name, test := range map[string]struct {
		machine []proctest.Process
		records []discover.Record
		want    string
	}{
		"a server":                           {[]proctest.Process{process(50, 1, "MARK=one")}, nil, "100 50"},
		"a server with a child":              {[]proctest.Process{process(50, 1, "MARK=one"), process(51, 50, "")}, nil, "100 50 -51"},
		"of a process that has ended":        {[]proctest.Process{process(50, 1, "MARK=one MARK_PID=30")}, nil, "100 50"},
		"of a sub-agent":                     {[]proctest.Process{process(50, 1, "MARK=sub MARK_ROOT=one")}, nil, "100 50"},
		"of a process that lives":            {[]proctest.Process{process(50, 1, "MARK=one MARK_PID=40")}, nil, "100"},
		"another session's":                  {[]proctest.Process{process(50, 1, "MARK=two")}, nil, "100"},
		"without a marker":                   {[]proctest.Process{process(50, 1, "")}, nil, "100"},
		"another agent's too":                {[]proctest.Process{process(50, 1, "MARK=one OTHER=x")}, nil, "100"},
		"another user's":                     {[]proctest.Process{of(process(50, 1, "MARK=one"), 7)}, nil, "100"},
		"an agent":                           {[]proctest.Process{named(process(50, 1, "MARK=one"))}, nil, "100"},
		"below an agent":                     {[]proctest.Process{process(50, other, "MARK=one")}, nil, "100"},
		"below an agent without a session":   {[]proctest.Process{named(process(49, 1, "")), process(50, 49, "MARK=one")}, nil, "100"},
		"above the session's process":        {[]proctest.Process{process(90, 1, "MARK=one")}, nil, "100"},
		"what another may have taken along":  {[]proctest.Process{process(50, 1, "MARK=one MARK_LASTS=1")}, nil, "100"},
		"what no other can have taken along": {[]proctest.Process{process(35, 1, "MARK=one MARK_LASTS=1")}, nil, "100 35"},
		"one ID twice, the other live":       {[]proctest.Process{process(50, 1, "MARK=one"), process(45, 1, "")}, copies, "100"},
	} {
		m := machine(append([]proctest.Process{process(1, 0, ""), in(process(other, 1, ""), "/w"), process(session, 90, "")}, test.machine...))
		one := stub.Adapter{
			Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("one", session), stub.ExactClaim("two", other), twin},
			Records: append([]discover.Record{stub.Record(Codex, "one", 1), stub.Record(Codex, "two", 1)}, test.records...),
		}
		if got := m.tree(t, "pid:100", marking{one}, otherMark{stub.Adapter{Agent: OpenCode}}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
