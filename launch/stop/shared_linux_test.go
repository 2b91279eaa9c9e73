package stop

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
)

// nest is an agent with a tool that runs another agent.
func nest() part {
	inner := part{Name: "inner", Runs: []string{"b"}, Mark: "b", MarkPID: true, Below: []part{
		{Name: "inner-tool", Setsid: true}, {Name: "inner-daemon", Detached: true},
	}}
	return part{Name: "outer", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{
		{Name: "shell", Setsid: true, Below: []part{inner, {Name: "sibling"}}}, {Name: "outer-daemon", Detached: true},
	}}
}

const nested = "outer shell inner inner-tool inner-daemon sibling outer-daemon"

// An agent that runs below of another one has its own life: with its tools, and with the shell that it was started from.
func TestNestedAgentIsSpared(t *testing.T) {
	c := stage(t, nest())
	r := set(t).stop("a")[0]
	want(t, c, r, Stopped, nested, "shell inner inner-tool inner-daemon")
}

// An agent that runs below of another one is stopped without it, though its tools carry the marks of both.
func TestInnerAgentAlone(t *testing.T) {
	c := stage(t, nest())
	r := set(t).stop("b")[0]
	want(t, c, r, Stopped, nested, "outer shell sibling outer-daemon")
}

func TestNestedTogether(t *testing.T) {
	c := stage(t, nest())
	r := set(t).stop("a", "b")
	want(t, c, r[0], Stopped, nested, "")
	want(t, c, r[1], Stopped, nested, "")
}

// What runs us is not ended, though it is a tool of the session.
func TestWeAreSpared(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", Below: []part{
		{Name: "shell", Setsid: true, Below: []part{{Name: "self"}, {Name: "sibling"}}},
	}})
	s := set(t)
	s.SelfPID = c.seen["self"].ID.PID
	want(t, c, s.stop("a")[0], Stopped, "agent shell self sibling", "shell self")
}

// two is one process of two sessions, each with a tool.
func two() part {
	return part{Name: "server", Runs: []string{"a", "b"}, MarkPID: true, Below: []part{
		{Name: "launcher-a", Mark: "a", Below: []part{{Name: "tool-a", Setsid: true}}},
		{Name: "launcher-b", Mark: "b", Below: []part{{Name: "tool-b", Setsid: true}}},
	}}
}

const both = "server launcher-a tool-a launcher-b tool-b"

func TestSharedProcessIsNotSignalled(t *testing.T) {
	c := stage(t, two())
	s := set(t)
	r := s.stop("a")[0]
	want(t, c, r, Refused, both, both)
	if !strings.Contains(r.Message, c.seen["server"].ID.String()+" also runs b") || len(r.Signalled) > 0 {
		t.Errorf("%+v", r)
	}
	s.Force = true
	want(t, c, s.stop("a")[0], Stopped, both, "")
}

func TestSharedProcessOfTheChosenIsSignalledOnce(t *testing.T) {
	c := stage(t, two())
	r := set(t).stop("a", "b")
	want(t, c, r[0], Stopped, both, "")
	want(t, c, r[1], Stopped, both, "")
	for _, one := range r {
		if got := sentTo(one, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) {
			t.Errorf("the process was sent %v", got)
		}
	}
}

// A session that its agent has ended in its own way: the process goes on, and so do the others' tools.
func TestOwnWay(t *testing.T) {
	c := stage(t, two())
	s := set(t)
	s.end = func(session discover.Session) (bool, error) {
		s.idle.Store(session.ID == "a" && session.Shared)
		return true, nil
	}
	r := s.stop("a")[0]
	want(t, c, r, Interrupted, both, "server launcher-a launcher-b tool-b")
	if got := sentTo(r, RoleTool); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) || len(r.Survived) > 0 {
		t.Errorf("%+v", r)
	}
	if r.After.Status != discover.Idle {
		t.Errorf("it is %s", r.After.Status)
	}
}

func TestOwnWayThatLeadsNowhere(t *testing.T) {
	c := stage(t, two())
	for name, w := range map[string]struct {
		end     func(discover.Session) (bool, error)
		outcome Outcome
		says    string
	}{
		"takes the order and goes on": {func(discover.Session) (bool, error) { return true, nil }, Running, "has accepted the request to end, but still runs it"},
		"fails":                       {func(discover.Session) (bool, error) { return true, errors.New("it is deaf") }, Refused, "it is deaf"},
		"needs a password":            {func(discover.Session) (bool, error) { return false, errors.New("no password") }, Refused, "no password"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t)
			s.stage = strings.TrimSuffix(s.stage, s.stage[strings.Index(s.stage, "/"):]) + s.stage[len(t.Name()):]
			s.end, s.Timeout = w.end, 200*time.Millisecond
			r := s.stop("a")[0]
			want(t, c, r, w.outcome, both, both)
			if !strings.Contains(r.Message, w.says) || len(r.Signalled) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What would be started again is ended in its agent's own way, and its process with it.
func TestSupervised(t *testing.T) {
	c := stage(t, part{Name: "worker", Runs: []string{"a"}, Below: []part{{Name: "tool", Setsid: true}}})
	s := set(t)
	s.end = func(session discover.Session) (bool, error) {
		kill(session.Processes[0].ID)
		return true, nil
	}
	r := s.stop("a")[0]
	want(t, c, r, Stopped, "worker tool", "")
	if len(sentTo(r, RoleAgent)) > 0 {
		t.Errorf("it was sent %v", r.Signalled)
	}
}

// What a session has left behind that died before is named, and ended with --force.
func TestLeftBehind(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", Below: []part{{Name: "tool", Setsid: true}}})
	h, err := proc.Open(c.seen["agent"].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	kill(c.seen["agent"].ID)
	if err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := set(t)
	r := s.stop("a")[0]
	want(t, c, r, AlreadyStopped, "agent tool", "tool")
	if !strings.Contains(r.Message, c.seen["tool"].ID.String()) || !slices.Equal(r.Survived, []proc.ID{c.seen["tool"].ID}) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	want(t, c, s.stop("a")[0], AlreadyStopped, "agent tool", "")
}
