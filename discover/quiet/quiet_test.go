package quiet

import (
	"net/netip"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// testAdapter is an agent whose sessions are files.
type testAdapter struct{ discover.Adapter }

func (testAdapter) Name() discover.Agent             { return "codex" }
func (testAdapter) IsStoreFile(string) bool          { return false }
func (testAdapter) MarkerKeys() []string             { return nil }
func (testAdapter) IsAgentProcess(proc.Process) bool { return false }

// observed returns what one observation says of a session that was last stored ten minutes ago. The agent is process 10, its tool 11.
func observed(t *testing.T, o *Observer, call *discover.WaitingOn, processes ...proctest.Process) *Quiet {
	t.Helper()
	table := proctest.NewTable(processes...)
	agent, _ := table.ByPID(10)
	s := discover.Session{
		Record: &discover.Record{Agent: "codex", ID: "a", Path: "/none", Updated: minutesAgo(10), Turn: discover.Turn{State: discover.TurnOpen, Began: minutesAgo(20), OpenCall: call}},
		Status: discover.Running, Processes: []proc.Process{agent},
	}
	r := discover.Result{Sessions: []discover.Session{s}, Table: table, SessionsByProcess: map[proc.ID][]discover.Key{agent.ID: {s.Key()}}}
	scanner := &discover.Scanner{Adapters: []discover.Adapter{testAdapter{}}}
	return o.Observe(scanner, r, ancestry.NewTrees(scanner, r, r.Sessions))[0]
}

func minutesAgo(n float64) time.Time {
	return time.Now().Add(-time.Duration(n * float64(time.Minute)))
}

func process(pid, parent int, started float64, a proc.Activity) proctest.Process {
	return proctest.Process{
		Process: proc.Process{ID: proc.ID{PID: pid, Birth: "now"}, Parent: parent, State: 'S', Name: "p", Started: minutesAgo(started)}, Active: a,
	}
}

// What is at work, or waits for what will come, is no alarm.
func TestFalseAlarms(t *testing.T) {
	call := &discover.WaitingOn{Tool: "shell", Brief: "make"}
	agent, sockets := process(10, 1, 60, proc.Activity{}), map[uint64]bool{1 << 40: true}
	connection := func(moved float64) func() ([]proc.TCPSocket, error) {
		return func() ([]proc.TCPSocket, error) {
			here, there := netip.MustParseAddrPort("10.0.0.1:5000"), netip.MustParseAddrPort("10.0.0.2:443")
			return []proc.TCPSocket{{Local: here, Remote: there, Inode: 1 << 40, LastMoved: minutesAgo(moved)}}, nil
		}
	}
	suspended := agent
	suspended.State = 'T'
	for name, c := range map[string]struct {
		call      *discover.WaitingOn
		sockets   func() ([]proc.TCPSocket, error)
		processes []proctest.Process
		minutes   int // for which it is quiet; 0: it is not
		explained bool
	}{
		"a tool that hangs":        {call, nil, []proctest.Process{agent, process(11, 10, 9, proc.Activity{LastRun: minutesAgo(8)})}, 8, false},
		"a tool inside the agent":  {call, nil, []proctest.Process{agent}, 10, false},
		"no call, no connection":   {nil, nil, []proctest.Process{agent}, 10, false},
		"a long compile":           {call, nil, []proctest.Process{agent, process(11, 10, 9, proc.Activity{LastRun: minutesAgo(0)})}, 0, false},
		"a new child":              {call, nil, []proctest.Process{agent, process(11, 10, 0, proc.Activity{})}, 0, false},
		"output":                   {call, nil, []proctest.Process{agent, process(11, 10, 9, proc.Activity{LastWrite: minutesAgo(0)})}, 0, false},
		"the agent's output":       {nil, nil, []proctest.Process{process(10, 1, 60, proc.Activity{LastOutput: minutesAgo(0), LastWrite: minutesAgo(0)})}, 0, false},
		"a log of the agent":       {nil, nil, []proctest.Process{process(10, 1, 60, proc.Activity{LastWrite: minutesAgo(0)})}, 10, false},
		"a download":               {call, connection(0), []proctest.Process{agent, process(11, 10, 9, proc.Activity{Sockets: sockets})}, 0, false},
		"a download that hangs":    {call, connection(5), []proctest.Process{agent, process(11, 10, 9, proc.Activity{Sockets: sockets})}, 5, false},
		"a model that thinks":      {nil, connection(5), []proctest.Process{process(10, 1, 60, proc.Activity{Sockets: sockets})}, 5, true},
		"a sub-agent's model":      {call, connection(5), []proctest.Process{process(10, 1, 60, proc.Activity{Sockets: sockets})}, 5, true},
		"a tool, and a connection": {call, connection(8), []proctest.Process{process(10, 1, 60, proc.Activity{Sockets: sockets}), process(11, 10, 9, proc.Activity{})}, 8, false},
		"tail -f":                  {call, nil, []proctest.Process{agent, process(11, 10, 9, proc.Activity{WatchesFiles: true})}, 9, true},
		"an idle server beside it": {call, nil, []proctest.Process{agent, process(12, 10, 59, proc.Activity{LastRun: minutesAgo(0), WatchesFiles: true})}, 10, false},
		"suspended":                {call, nil, []proctest.Process{suspended}, 10, true},
	} {
		if c.sockets == nil {
			c.sockets = func() ([]proc.TCPSocket, error) { return []proc.TCPSocket{}, nil }
		}
		q := observed(t, &Observer{Sockets: c.sockets}, c.call, c.processes...)
		switch {
		case q == nil:
			if c.minutes > 0 {
				t.Errorf("%s: not quiet", name)
			}
		case int(time.Since(q.Since).Minutes()) != c.minutes, q.IsExplained() != c.explained, q.OpenCall != c.call:
			t.Errorf("%s: %+v", name, *q)
		}
	}
}

// Processor time is seen by whoever looks twice.
func TestProcessorTime(t *testing.T) {
	with := func(pid, parent int, cpu time.Duration) proctest.Process {
		p := process(pid, parent, 30, proc.Activity{})
		p.ResourceUsage.CPU = cpu
		return p
	}
	o := &Observer{Sockets: func() ([]proc.TCPSocket, error) { return []proc.TCPSocket{}, nil }}
	if q := observed(t, o, nil, with(10, 1, time.Hour), with(11, 10, time.Hour)); q == nil || q.ChildrenCPU != 0 {
		t.Errorf("first: %+v", q)
	}
	o.at = o.at.Add(-10 * time.Second)
	if q := observed(t, o, nil, with(10, 1, time.Hour+time.Second), with(11, 10, time.Hour+50*time.Millisecond)); q == nil || q.ChildrenCPU <= 0 || q.ChildrenCPU > 0.01 {
		t.Errorf("an animation and an idle server: %+v", q)
	}
	o.at = o.at.Add(-10 * time.Second)
	if q := observed(t, o, nil, with(10, 1, time.Hour+time.Second), with(11, 10, time.Hour+5*time.Second)); q != nil {
		t.Errorf("a tool at work: %+v", q)
	}
	if q := observed(t, o, nil, with(10, 1, time.Hour+time.Second), with(11, 10, time.Hour+5*time.Second)); q != nil {
		t.Errorf("right after it: %+v", q)
	}
}

// Where the connections cannot be read, nothing is said.
func TestUnreadable(t *testing.T) {
	failing := func() ([]proc.TCPSocket, error) { return nil, proc.ErrUnsupported }
	if q := observed(t, &Observer{Sockets: failing}, nil, process(10, 1, 60, proc.Activity{})); q != nil {
		t.Errorf("%+v", q)
	}
	hidden := process(10, 1, 60, proc.Activity{})
	hidden.Err = proc.ErrUnsupported
	if q := observed(t, &Observer{}, nil, hidden); q != nil {
		t.Errorf("%+v", q)
	}
}
