package stop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// nestedAgents is an agent with a tool that runs another agent.
func nestedAgents() testProcess {
	inner := testProcess{Name: "inner", Sessions: []string{"b"}, SessionMarker: "b", PIDMarker: true, Children: []testProcess{
		{Name: "inner-tool", Setsid: true}, {Name: "inner-daemon", Detached: true},
	}}
	return testProcess{Name: "outer", Sessions: []string{"a"}, SessionMarker: "a", PIDMarker: true, Children: []testProcess{
		{Name: "shell", Setsid: true, Children: []testProcess{inner, {Name: "sibling"}}}, {Name: "outer-daemon", Detached: true},
	}}
}

const nested = "outer shell inner inner-tool inner-daemon sibling outer-daemon"

// An agent below another one is spared, with its tools and the shell that started it.
func TestNestedAgentIsSpared(t *testing.T) {
	c := start(t, nestedAgents())
	r := newFixture(t).stop("a")[0]
	check(t, c, r, Stopped, nested, "shell inner inner-tool inner-daemon")
}

// An agent below another one is stopped without it, although its tools have the markers of both.
func TestNestedAgentIsStoppedAlone(t *testing.T) {
	c := start(t, nestedAgents())
	r := newFixture(t).stop("b")[0]
	check(t, c, r, Stopped, nested, "outer shell sibling outer-daemon")
}

func TestNestedAgentsAreStoppedTogether(t *testing.T) {
	c := start(t, nestedAgents())
	r := newFixture(t).stop("a", "b")
	check(t, c, r[0], Stopped, nested, "")
	check(t, c, r[1], Stopped, nested, "")
}

// two is one process of two sessions, each with a tool.
func sharedServer() testProcess {
	return testProcess{Name: "server", Sessions: []string{"a", "b"}, PIDMarker: true, Children: []testProcess{
		{Name: "launcher-a", SessionMarker: "a", Children: []testProcess{{Name: "tool-a", Setsid: true}}},
		{Name: "launcher-b", SessionMarker: "b", Children: []testProcess{{Name: "tool-b", Setsid: true}}},
	}}
}

const both = "server launcher-a tool-a launcher-b tool-b"

func TestProcessOfSeveralChosenSessionsIsSignalledOnce(t *testing.T) {
	c := start(t, sharedServer())
	r := newFixture(t).stop("a", "b")
	check(t, c, r[0], Stopped, both, "")
	check(t, c, r[1], Stopped, both, "")
	for _, one := range r {
		if got := sentTo(one, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) {
			t.Errorf("the process was sent %v", got)
		}
	}
}

// If the agent interrupts a session, its shared process lives, and so do the tools of the other sessions.
func TestInterruptedSessionOfSharedProcess(t *testing.T) {
	c := start(t, sharedServer())
	s := newFixture(t)
	s.interrupt = func(_ context.Context, session discover.Session) (bool, error) {
		s.idle.Store(session.ID == "a" && session.Shared)
		return true, nil
	}
	r := s.stop("a")[0]
	check(t, c, r, Released, both, "server launcher-a launcher-b tool-b")
	if got := sentTo(r, RoleTool); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) || len(r.Survived) > 0 {
		t.Errorf("%+v", r)
	}
	if r.After.Status != discover.Idle {
		t.Errorf("it is %s", r.After.Status)
	}
}

// withClients is a server of the sessions a and b, and processes that show each session of theirs.
func withClients(clients ...testProcess) []testProcess {
	return append(clients, testProcess{Name: "server", Sessions: []string{"a", "b"}})
}

// accepting has the agent interrupt any session.
func (s *fixture) accepting() {
	s.interrupt = func(context.Context, discover.Session) (bool, error) {
		s.idle.Store(true)
		return true, nil
	}
}

// The clients that show a session of a shared process are ended with it; those that show another session are not.
func TestClientsAreEnded(t *testing.T) {
	c := start(t, withClients(testProcess{Name: "one", Shows: []string{"a"}}, testProcess{Name: "two", Shows: []string{"a"}}, testProcess{Name: "other", Shows: []string{"b"}})...)
	s := newFixture(t)
	s.accepting()
	r := s.stop("a")[0]
	check(t, c, r, Released, "one two other server", "other server")
	if got := sentTo(r, RoleClient); len(got) != 2 || len(sentTo(r, RoleAgent)) > 0 || len(r.Before.Clients) != 2 {
		t.Errorf("%+v", r)
	}
}

// A client that shows one session or another is ended by force only.
func TestClientsThatMayShowAnotherSession(t *testing.T) {
	c := start(t, withClients(testProcess{Name: "one", Shows: []string{"a", "b"}})...)
	s := newFixture(t)
	s.accepting()
	r := s.stop("a")[0]
	check(t, c, r, Refused, "one server", "one server")
	if one := c.byName["one"].ID.String(); !strings.Contains(r.Message, "it may be shown in "+one) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	check(t, c, s.stop("a")[0], Released, "one server", "server")
}

// While a client lives, its session is not released.
func TestClientThatDoesNotEnd(t *testing.T) {
	c := start(t, withClients(testProcess{Name: "one", Shows: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}})...)
	s := newFixture(t)
	s.accepting()
	var r Result
	for s.Timeout = 100 * time.Millisecond; len(r.Signalled) == 0; s.Timeout *= 2 { // a busy machine takes longer until the client is signalled
		r = s.stop("a")[0]
	}
	check(t, c, r, Running, "one server", "one server")
	if !slices.Equal(r.Survived, []proc.ID{c.byName["one"].ID}) {
		t.Errorf("%+v", r)
	}
}

// If the agent does not interrupt a session, the result says whether it was asked.
func TestRequestInVain(t *testing.T) {
	c := start(t, sharedServer())
	for name, test := range map[string]struct {
		interrupt func(context.Context) (bool, error)
		outcome   Outcome
		request   Request
		says      string
	}{
		"accepted, and the turn goes on": {func(context.Context) (bool, error) { return true, nil }, Running, RequestAccepted, "has accepted the request to end, but still runs it"},
		"failed":                         {func(context.Context) (bool, error) { return true, errors.New("HTTP status 500") }, Refused, RequestFailed, "also runs b, and the request to end it failed: HTTP status 500"},
		"not accepted":                   {func(context.Context) (bool, error) { return false, errors.New("no password") }, Refused, RequestFailed, "no password"},
		"unanswered":                     {func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }, Running, RequestUnanswered, "was asked to end it, and has not answered within"},
		"no way to ask":                  {func(context.Context) (bool, error) { return false, nil }, Refused, "", "also runs b; stop them together"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.test = strings.TrimSuffix(s.test, s.test[strings.Index(s.test, "/"):]) + s.test[len(t.Name()):]
			s.interrupt = func(ctx context.Context, _ discover.Session) (bool, error) { return test.interrupt(ctx) }
			s.Timeout = time.Second
			r := s.stop("a")[0]
			check(t, c, r, test.outcome, both, both)
			if !strings.Contains(r.Message, test.says) || r.Request != test.request || len(r.Signalled) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A process that its agent would start again is ended by the agent, and its tools are ended afterwards.
func TestSessionEndedByItsAgent(t *testing.T) {
	c := start(t, testProcess{Name: "worker", Sessions: []string{"a"}, Children: []testProcess{{Name: "tool", Setsid: true}}})
	s := newFixture(t)
	s.interrupt = func(_ context.Context, session discover.Session) (bool, error) {
		kill(session.Processes[0].ID)
		return true, nil
	}
	r := s.stop("a")[0]
	check(t, c, r, Stopped, "worker tool", "")
	if len(sentTo(r, RoleAgent)) > 0 {
		t.Errorf("it was sent %v", r.Signalled)
	}
}

// Two chosen sessions of one process that the agent ends are stopped, whether both requests come before its end or one does.
func TestProcessEndedByItsAgentForSeveralSessions(t *testing.T) {
	for _, requests := range []int{1, 2} {
		c := start(t, sharedServer())
		s := newFixture(t)
		var sent sync.WaitGroup
		sent.Add(requests)
		s.interrupt = func(_ context.Context, session discover.Session) (bool, error) {
			if requests == 2 {
				sent.Done()
				sent.Wait()
			}
			kill(session.Processes[0].ID)
			return true, nil
		}
		for _, r := range s.stop("a", "b") {
			check(t, c, r, Stopped, both, "")
			if len(sentTo(r, RoleAgent)) > 0 || requests == 2 && r.Request != RequestAccepted {
				t.Errorf("%+v", r)
			}
		}
	}
}

// The processes that a stopped session left behind are named, and ended with force.
func TestToolsOfStoppedSession(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", Children: []testProcess{{Name: "tool", Setsid: true}}})
	h, err := proc.Open(c.byName["agent"].ID)
	must.Do(t, err)
	defer h.Close()
	kill(c.byName["agent"].ID)
	must.Do(t, h.Wait(t.Context()))
	s := newFixture(t)
	r := s.stop("a")[0]
	check(t, c, r, AlreadyStopped, "agent tool", "tool")
	if !strings.Contains(r.Message, c.byName["tool"].ID.String()) || !slices.Equal(r.Survived, []proc.ID{c.byName["tool"].ID}) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	check(t, c, s.stop("a")[0], AlreadyStopped, "agent tool", "")
}
