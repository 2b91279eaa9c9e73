package ancestry

import (
	"errors"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// tool is a process in the environment of which agents have left something: key=value, in one text.
func tool(pid int, environ string) proctest.Process {
	f := stub.Process(pid, "now", 'S')
	f.Environ = map[string]string{}
	for pair := range strings.FieldsSeq(environ) {
		key, value, _ := strings.Cut(pair, "=")
		f.Environ[key] = value
	}
	return f
}

// Orphans are the processes that dead sessions left behind, proven by their marks; of a session that cannot be told dead
// none is.
func TestOrphans(t *testing.T) {
	stored := []discover.Record{stub.Record(Codex, "dead", 1), stub.Record(Codex, "dead2", 1), stub.Record(Codex, "live", 1)}
	for name, test := range map[string]struct {
		p    proctest.Process
		want string // the session; "" if it is none
	}{
		"a dead session's":                  {tool(50, "MARK=dead"), "dead"},
		"a live session's":                  {tool(50, "MARK=live"), ""},
		"a dead one's, of a live root":      {tool(50, "MARK=dead MARK_ROOT=live"), ""},
		"a dead one's, of a dead root":      {tool(50, "MARK=dead MARK_ROOT=dead2"), "dead"},
		"another variable":                  {tool(50, "OTHER=dead"), ""},
		"of a dead process":                 {tool(50, "MARK_PID=4"), "-"},
		"of a live process":                 {tool(50, "MARK_PID=7"), ""},
		"of a pid that was given out again": {tool(50, "MARK_PID=60"), "-"},
		"of a zombie":                       {tool(50, "MARK_PID=8"), "-"},
		"a dead one's, of a live process":   {tool(50, "MARK=dead MARK_PID=7"), ""},
		"a dead one's, of a dead process":   {tool(50, "MARK=dead MARK_PID=4"), "dead"},
		"a live one's, of a dead process":   {tool(50, "MARK=live MARK_PID=4"), ""},
		"an agent":                          {tool(7, "MARK=dead"), ""},
		"never stored, an agent is older":   {tool(50, "MARK=never"), ""},
		"never stored, no agent is older":   {tool(5, "MARK=never"), "never"},
		"never stored, of a dead process":   {tool(50, "MARK=never MARK_PID=4"), "never"},
		"an agent that runs no session": {func() proctest.Process {
			f := tool(50, "MARK=dead")
			f.Name = "agent"
			return f
		}(), ""},
		"in a container": {func() proctest.Process {
			f := tool(50, "MARK_PID=4")
			f.NSPIDs = []int{50, 2}
			return f
		}(), ""},
		"another user's": {func() proctest.Process {
			f := tool(50, "MARK=dead")
			f.Err = errors.New("denied")
			return f
		}(), ""},
		"a zombie of a dead one": {func() proctest.Process {
			f := tool(50, "MARK=dead")
			f.State = 'Z'
			return f
		}(), ""},
	} {
		m := stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("live", 7)}, Records: stored}
		facts := []proctest.Process{stub.Process(1, "now", 'S'), stub.Process(8, "now", 'Z'), stub.Process(60, "now", 'S'), test.p}
		if test.p.ID.PID != 7 {
			facts = append(facts, stub.Process(7, "now", 'S'))
		}
		if got := orphans(t, stub.NewScanner(func() *proc.Table { return proctest.NewTable(facts...) }, m)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// orphans names the sessions of the orphans of a world.
func orphans(t *testing.T, scanner *discover.Scanner) string {
	t.Helper()
	_, marked, err := MarkedProcesses(t.Context(), scanner)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range marked {
		switch {
		case !b.Orphan:
		case b.Session.Status != discover.Stopped:
			t.Errorf("%s: the session is %s", b.ID, b.Session.Status)
		default:
			out = append(out, b.Session.ID+strings.Repeat("-", 1-min(1, len(b.Session.ID))))
		}
	}
	return strings.Join(out, " ")
}

// What was started for a session that its process has gone on from serves the next one: whoever may have done so keeps the
// process from being an orphan.
func TestOrphansWithAMarkerThatOutlivesItsSession(t *testing.T) {
	start := time.Unix(1000, 0).UTC()
	live := func(created int, dir string) discover.Record {
		r := stub.Record(Codex, "live", 1)
		r.Created, r.Dir = start.Add(time.Duration(created)*time.Second), dir
		return r
	}
	for name, test := range map[string]struct {
		live discover.Record
		pid  int // of the process: its start, too
		mark string
		want string
	}{
		"gone on to it later":           {live(500, "/w"), 1100, "MARK=dead MARK_LASTS=1", ""},
		"gone on to an older one":       {live(-500, "/w"), 1100, "MARK=dead MARK_LASTS=1", ""},
		"begun with it":                 {live(1, "/w"), 1100, "MARK=dead MARK_LASTS=1", "dead"},
		"begun just before the process": {live(99, "/w"), 1100, "MARK=dead MARK_LASTS=1", ""},
		"at work elsewhere":             {live(500, "/x"), 1100, "MARK=dead MARK_LASTS=1", "dead"},
		"younger than the process":      {live(0, "/w"), 900, "MARK=dead MARK_LASTS=1", "dead"},
		"the process is known and dead": {live(500, "/w"), 1100, "MARK=dead MARK_LASTS=1 MARK_PID=4", "dead"},
		"a mark that does not last":     {live(500, "/w"), 1100, "MARK=dead", "dead"},
	} {
		m := stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("live", 1000)}, Records: []discover.Record{stub.Record(Codex, "dead", 1), test.live}}
		table := proctest.NewTable(stub.Process(1, "now", 'S'), stub.Process(1000, "now", 'S'), tool(test.pid, test.mark))
		if got := orphans(t, stub.NewScanner(func() *proc.Table { return table }, m)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A process with markers of several agents is an orphan only if all that they name has ended.
func TestOrphansWithMarkersOfTwoAgents(t *testing.T) {
	for mark, want := range map[string]string{"MARK=dead": "dead", "MARK=gone": "gone", "MARK=live": ""} {
		one := stub.Adapter{Agent: Codex, ClaimList: []discover.Claim{stub.ExactClaim("live", 7)}, Records: []discover.Record{stub.Record(Codex, "dead", 1), stub.Record(Codex, "live", 1)}}
		two := stub.Adapter{Agent: OpenCode, Records: []discover.Record{stub.Record(OpenCode, "dead", 1), stub.Record(OpenCode, "gone", 1), stub.Record(OpenCode, "live", 1)}}
		table := proctest.NewTable(stub.Process(1, "now", 'S'), stub.Process(7, "now", 'S'), tool(6, mark))
		if got := orphans(t, stub.NewScanner(func() *proc.Table { return table }, one, two)); got != want {
			t.Errorf("%s: %q, want %q", mark, got, want)
		}
	}
}

// Where processes are hidden, no process is called an orphan.
func TestNoOrphansWhereProcessesAreHidden(t *testing.T) {
	stored := []discover.Record{stub.Record(Codex, "dead", 1)}
	nameless := discover.Claim{Agent: Codex, Process: proc.ID{PID: 7, Birth: "now"}, Kind: "process", Turn: &discover.Turn{State: discover.TurnOpen}}
	idle := nameless
	idle.Turn = &discover.Turn{State: discover.TurnNone}
	for name, test := range map[string]struct {
		scanner *discover.Scanner
		want    string
	}{
		"in a sandbox": {stub.NewScanner(func() *proc.Table { return proctest.NewTable(box(1, "x"), tool(50, "MARK=dead")) }, sandboxAdapter{stub.Adapter{Agent: Codex, Records: stored}}), ""},
		"an agent that works on an unknown session": {
			stub.NewScanner(func() *proc.Table { return proctest.NewTable(stub.Process(7, "now", 'S'), tool(50, "MARK=dead")) }, stub.Adapter{Agent: Codex, Records: stored, ClaimList: []discover.Claim{nameless}}), "",
		},
		"an agent that was asked nothing": {
			stub.NewScanner(func() *proc.Table { return proctest.NewTable(stub.Process(7, "now", 'S'), tool(50, "MARK=dead")) }, stub.Adapter{Agent: Codex, Records: stored, ClaimList: []discover.Claim{idle}}), "dead",
		},
	} {
		if got := orphans(t, test.scanner); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

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
		"a server with a child":              {[]proctest.Process{process(50, 1, "MARK=one"), process(51, 50, "")}, nil, "100 50 51"},
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
