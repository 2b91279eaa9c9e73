package stop

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

func TestGentlestSignalFirst(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, Ignores: []syscall.Signal{unix.SIGINT}})
	s := newFixture(t)
	s.signals = []syscall.Signal{unix.SIGINT, unix.SIGTERM}
	s.Timeout = 4 * time.Second // each of the two signals has half of it
	r := s.stop("a")[0]
	check(t, c, r, Stopped, "agent", "")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, s.signals) {
		t.Errorf("it was sent %v", got)
	}
}

// A suspended process takes a signal only once it is continued.
func TestSuspendedProcessesEnd(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, Children: []testProcess{{Name: "tool"}}})
	for _, name := range []string{"tool", "agent"} {
		must.Do(t, unix.Kill(c.byName[name].ID.PID, unix.SIGSTOP))
	}
	check(t, c, newFixture(t).stop("a")[0], Stopped, "agent tool", "")
}

// TestRecycledPIDIsNotSignalled: S11, F25.
func TestRecycledPIDIsNotSignalled(t *testing.T) {
	c := start(t, testProcess{Name: "bystander"})
	p := c.byName["bystander"]
	p.ID.Birth, p.Ticks = p.ID.Birth[:strings.IndexByte(p.ID.Birth, '/')]+"/1", 1
	s := newFixture(t)
	s.Force = true
	before := discover.Session{Record: &discover.Record{Agent: "testagent", ID: "a", Path: "/h/a"}, Status: discover.Running, Processes: []proc.Process{p}}
	r := s.stopSessions(t.Context(), []discover.Session{before})[0]
	check(t, c, r, AlreadyStopped, "bystander", "bystander")
	if len(r.Signalled) > 0 {
		t.Errorf("it was sent %v", r.Signalled)
	}
}

// A tool that starts a successor when it ends is ended with its successors: they are in its kernel session, or have the marker.
func TestSuccessorsEnd(t *testing.T) {
	c := start(t,
		testProcess{Name: "agent", Sessions: []string{"a"}, Children: []testProcess{{Name: "tool", Setsid: true, Successors: 3}}},
		testProcess{Name: "other", Sessions: []string{"b"}, SessionMarker: "b", Children: []testProcess{{Name: "roamer", Setsid: true, Successors: 3, SuccessorsSetsid: true}}},
	)
	r := newFixture(t).stop("a", "b")
	check(t, c, r[0], Stopped, "agent tool", "")
	check(t, c, r[1], Stopped, "other roamer", "")
	for c.lines.Scan() { // ends when the last successor has
		c.record(c.lines.Text())
	}
	if got := c.alive("tool", "roamer"); got != "" {
		t.Errorf("successors of %s live", got)
	}
}

func TestAmbiguousSessionIsRefused(t *testing.T) {
	c := start(t, testProcess{Name: "one", Sessions: []string{"perhaps-a"}}, testProcess{Name: "two", Sessions: []string{"perhaps-a"}})
	s := newFixture(t)
	s.Force = true
	r := s.stop("perhaps-a")[0]
	check(t, c, r, Refused, "one two", "one two")
	for _, name := range []string{"one", "two"} {
		if pid := c.byName[name].ID.String(); !strings.Contains(r.Message, pid) {
			t.Errorf("%q does not name %s", r.Message, pid)
		}
	}
}

// The result of a cancelled call has the signals that were sent.
func TestCancelledCallReportsSignals(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c.lines.Scan() // "agent ignores"
		cancel()
	}()
	s := newFixture(t)
	r := s.stopSessions(ctx, s.sessions("a"))[0]
	check(t, c, r, Running, "agent", "agent")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) || r.Message != "not waited for" {
		t.Errorf("%v, %q", got, r.Message)
	}
}

// Whenever a call is cancelled, its result is true, of the session and of its tools.
func TestCancelledAnywhereReportsTheTruth(t *testing.T) {
	outcomes := map[Outcome]int{}
	for at, reads := 2, 2; reads >= at; at++ { // at the first read nothing is done, and an error says so
		c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, Children: []testProcess{{Name: "tool", Setsid: true}}})
		ctx, cancel := context.WithCancel(t.Context())
		s := newFixture(t)
		chosen := s.sessions("a")
		reads = 0
		s.readTable = func(ctx context.Context, _ bool) (*proc.Table, error) {
			if reads++; reads == at {
				cancel()
			}
			return proc.ReadTable(ctx, false)
		}
		r := s.stopSessions(ctx, chosen)[0]
		cancel()
		outcomes[r.Outcome]++
		alive := map[Outcome]string{Running: "agent tool", Failed: "tool", Stopped: ""}[r.Outcome]
		if r.Outcome == Running && len(r.Signalled) > 0 && c.alive("agent") == "" {
			alive = "tool" // what was signalled may end later
		}
		check(t, c, r, r.Outcome, "agent tool", alive)
		if sent := len(r.Signalled) > 0; sent == (r.Message == "nothing was done") {
			t.Errorf("cancelled at read %d: %+v", at, r)
		}
		if r.Outcome == Failed && !strings.HasPrefix(r.Message, "it is stopped, but its tool") {
			t.Errorf("cancelled at read %d: %q", at, r.Message)
		}
		newFixture(t).stop("a")
	}
	if outcomes[Running] == 0 || outcomes[Failed] == 0 || outcomes[Stopped] < 2 {
		t.Errorf("not all outcomes were seen: %v", outcomes)
	}
}

// A signalled agent that ends after the last wait has ended: its session is stopped, and its tools are searched.
func TestAgentThatEndsLateIsReportedStopped(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}, Children: []testProcess{{Name: "tool", Setsid: true}}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newFixture(t)
	chosen := s.sessions("a")
	go func() { // the agent prints that it has got the signal
		for c.lines.Scan() && c.lines.Text() != "agent ignores" {
		}
		cancel()
	}()
	s.readTable = func(taking context.Context, _ bool) (*proc.Table, error) {
		if ctx.Err() != nil && taking.Err() == nil && c.alive("agent") != "" {
			c.kill("agent")
		}
		return proc.ReadTable(taking, false)
	}
	r := s.stopSessions(ctx, chosen)[0]
	check(t, c, r, Failed, "agent tool", "tool")
	if !strings.HasPrefix(r.Message, "it is stopped, but its tool") || !slices.Equal(r.Survived, []proc.ID{c.byName["tool"].ID}) {
		t.Errorf("%+v", r)
	}
}

// The user nobody may not signal root's processes.
func TestAnotherUsersAgentIsNotSignalled(t *testing.T) {
	asNobody(t, func(p proc.Process) {
		before := discover.Session{Record: &discover.Record{Agent: "testagent", ID: "a", Path: "/h/a"}, Status: discover.Unknown, Processes: []proc.Process{p}}
		r := newFixture(t).stopSessions(t.Context(), []discover.Session{before})[0]
		if r.Outcome != Failed || !strings.Contains(r.Message, "belongs to user 0") || len(r.Signalled) > 0 {
			t.Errorf("%+v", r)
		}
	})
}

// Nobody waits for the end of a tool that may not be signalled.
func TestAnotherUsersToolIsNotAwaited(t *testing.T) {
	asNobody(t, func(p proc.Process) {
		limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		x, signals := &execution{}, &toolSignals{sent: map[proc.ID]bool{}, skip: map[proc.ID]bool{}, killAt: time.Now().Add(time.Hour)}
		(&run{}).signalTools(limited, []tool{{p, []*execution{x}}}, signals)
		if limited.Err() != nil || len(x.signalled) > 0 || !signals.skip[p.ID] {
			t.Errorf("%v: signalled %v, not signalled any more %v", limited.Err(), x.signalled, signals.skip)
		}
	})
}

// asNobody runs the test again as the user nobody, who calls check with a process of root.
func asNobody(t *testing.T, check func(proc.Process)) {
	t.Helper()
	const nobody, key = 65534, "STOP_TEST_AS_NOBODY"
	if pid, err := strconv.Atoi(os.Getenv(key)); err == nil {
		p, err := proc.Inspect(pid)
		must.Do(t, err)
		check(p)
		return
	}
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("under CI=true this test must run as root, so that there is another user")
		}
		t.Skip("needs root, to be another user")
	}
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}})
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), key+"="+strconv.Itoa(c.byName["agent"].ID.PID))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := c.alive("agent"); got != "agent" {
		t.Error("the process has ended")
	}
}

// The descendants of a nested agent that sets no markers are its own, although they have the outer session's markers.
func TestToolsOfNestedAgentWithoutMarkersAreSpared(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", PIDMarker: true, Children: []testProcess{
		{Name: "tool", Setsid: true},
		{Name: "inner", Detached: true, Sessions: []string{"i"}, Children: []testProcess{{Name: "inner-tool", Children: []testProcess{{Name: "inner-deep"}}}}},
	}})
	r := newFixture(t).stop("a")[0]
	check(t, c, r, Stopped, "agent tool inner inner-tool inner-deep", "inner inner-tool inner-deep")
}

// orphans returns those of the names whose processes are found, in their order.
func (s *fixture) orphans(c *processes, names string) string {
	s.Helper()
	list, _, err := FindOrphans(s.Context(), s.scanner(), nil)
	must.Do(s, err)
	var out []string
	for name := range strings.FieldsSeq(names) {
		if slices.ContainsFunc(list, func(o Orphan) bool { return o.ID == c.byName[name].ID }) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// endOrphans ends the orphans of the one session that has any.
func (s *fixture) endOrphans() Result {
	s.Helper()
	results, _, err := EndOrphans(s.Context(), s.scanner(), s.Options, nil)
	if err != nil || len(results) != 1 {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results[0]
}

// kill kills a process and waits for its end.
func (c *processes) kill(name string) {
	c.t.Helper()
	h, err := proc.Open(c.byName[name].ID)
	must.Do(c.t, err)
	defer h.Close()
	must.Do(c.t, h.Signal(unix.SIGKILL))
	must.Do(c.t, h.Wait(c.t.Context()))
}

// An orphan that ignores SIGTERM is killed only with force.
func TestOrphanThatIgnoresSIGTERM(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", Children: []testProcess{
		{Name: "tool", Setsid: true, Ignores: []syscall.Signal{unix.SIGTERM}}, {Name: "other", Setsid: true},
	}})
	s := newFixture(t)
	c.kill("agent")
	s.Timeout = time.Second
	r := s.endOrphans()
	check(t, c, r, Failed, "tool other", "tool")
	if !slices.Equal(r.Survived, []proc.ID{c.byName["tool"].ID}) || !strings.Contains(r.Message, "--force kills") ||
		slices.Contains(sentTo(r, RoleTool), unix.SIGKILL) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	r = s.endOrphans()
	check(t, c, r, AlreadyStopped, "tool other", "")
	if got := sentTo(r, RoleTool); !slices.Equal(got, []syscall.Signal{unix.SIGTERM, unix.SIGKILL}) {
		t.Errorf("with force it was sent %v", got)
	}
}

// Orphans of the session that this process was started by are spared: its tool may be a terminal multiplexer in use.
func TestOrphansOfOwnSessionAreSpared(t *testing.T) {
	tools := func(of string) testProcess {
		return testProcess{Name: "agent-" + of, Sessions: []string{of}, SessionMarker: of, PIDMarker: true, Children: []testProcess{
			{Name: "shell-" + of, Setsid: true, Children: []testProcess{{Name: "one-" + of}, {Name: "other-" + of}}},
		}}
	}
	c := start(t, tools("a"), tools("b"))
	s := newFixture(t)
	c.kill("agent-a")
	c.kill("agent-b")
	s.pid = c.byName["one-a"].ID.PID
	if got := s.orphans(c, "shell-a one-a other-a shell-b one-b other-b"); got != "shell-b one-b other-b" {
		t.Errorf("found %q", got)
	}
}
