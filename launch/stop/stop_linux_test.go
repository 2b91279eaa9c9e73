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
)

// TestToolsEndWithTheirSession: F26. What the session has started ends with it, wherever it has gone; an innocent process
// does not.
func TestToolsEndWithTheirSession(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{
		{Name: "tool", Setsid: true, Below: []part{{Name: "its-child"}, {Name: "its-daemon", Detached: true}}},
		{Name: "server"},
		{Name: "daemon", Detached: true, Below: []part{{Name: "its-own"}}},
	}}, part{Name: "bystander"})
	r := set(t).stop("a")[0]
	want(t, c, r, Stopped, "agent tool its-child its-daemon server daemon its-own bystander", "bystander")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) {
		t.Errorf("the agent was sent %v", got)
	}
	if got := sentTo(r, RoleTool); len(got) != 6 || slices.Contains(got, unix.SIGKILL) || len(r.Survived) > 0 {
		t.Errorf("the tools were sent %v; %v survived", got, r.Survived)
	}
	if r.After == nil || r.After.Status != discover.Stopped || r.Before.Status != discover.Running {
		t.Errorf("before %+v, after %+v", r.Before, r.After)
	}
	if again := set(t).stop("a")[0]; again.Outcome != AlreadyStopped || len(again.Signalled) > 0 {
		t.Errorf("a second time: %+v", again)
	}
}

// TestStillRunning: S8, F23. One that takes no notice is said to run, and so are its tools left alone, until --force.
func TestStillRunning(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}, Below: []part{{Name: "tool", Setsid: true}}})
	s := set(t)
	s.Timeout = 200 * time.Millisecond
	r := s.stop("a")[0]
	want(t, c, r, Running, "agent tool", "agent tool")
	if !slices.Equal(r.Survived, []proc.ID{c.seen["agent"].ID}) || r.After.Status != discover.Running {
		t.Errorf("%+v", r)
	}
	s.Force = true
	r = s.stop("a")[0]
	want(t, c, r, Stopped, "agent tool", "")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM, unix.SIGKILL}) {
		t.Errorf("with force it was sent %v", got)
	}
}

func TestGentlestSignalFirst(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Ignores: []syscall.Signal{unix.SIGINT}})
	s := set(t)
	s.gentle = []syscall.Signal{unix.SIGINT, unix.SIGTERM}
	s.Timeout = 4 * time.Second // half of it goes by
	r := s.stop("a")[0]
	want(t, c, r, Stopped, "agent", "")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, s.gentle) {
		t.Errorf("it was sent %v", got)
	}
}

// A suspended process takes no notice before it goes on.
func TestSuspended(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Below: []part{{Name: "tool"}}})
	for _, name := range []string{"tool", "agent"} {
		if err := unix.Kill(c.seen[name].ID.PID, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	want(t, c, set(t).stop("a")[0], Stopped, "agent tool", "")
}

// TestRecycledPIDIsNotSignalled: S11, F25.
func TestRecycledPIDIsNotSignalled(t *testing.T) {
	c := stage(t, part{Name: "bystander"})
	p := c.seen["bystander"]
	p.ID.Birth, p.Ticks = p.ID.Birth[:strings.IndexByte(p.ID.Birth, '/')]+"/1", 1
	s := set(t)
	s.Force = true
	before := discover.Session{Record: &discover.Record{Agent: "actor", ID: "a", Path: "/h/a"}, Status: discover.Running, Processes: []proc.Process{p}}
	r := s.stopIn(t.Context(), []discover.Session{before})[0]
	want(t, c, r, Stopped, "bystander", "bystander")
	if len(r.Signalled) > 0 {
		t.Errorf("it was sent %v", r.Signalled)
	}
}

// What starts its successor when it is asked to end is ended all the same: it is in the same session of the kernel, or it
// is marked.
func TestSuccessorsEnd(t *testing.T) {
	c := stage(t,
		part{Name: "agent", Runs: []string{"a"}, Below: []part{{Name: "tool", Setsid: true, Heirs: 3}}},
		part{Name: "other", Runs: []string{"b"}, Mark: "b", Below: []part{{Name: "roamer", Setsid: true, Heirs: 3, Roams: true}}},
	)
	r := set(t).stop("a", "b")
	want(t, c, r[0], Stopped, "agent tool", "")
	want(t, c, r[1], Stopped, "other roamer", "")
	for c.lines.Scan() { // ends when the last successor has
		c.know(c.lines.Text())
	}
	if got := c.alive("tool", "roamer"); got != "" {
		t.Errorf("successors of %s live", got)
	}
}

func TestAmbiguousSessionIsRefused(t *testing.T) {
	c := stage(t, part{Name: "one", Runs: []string{"perhaps-a"}}, part{Name: "two", Runs: []string{"perhaps-a"}})
	s := set(t)
	s.Force = true
	r := s.stop("perhaps-a")[0]
	want(t, c, r, Refused, "one two", "one two")
	for _, name := range []string{"one", "two"} {
		if pid := c.seen[name].ID.String(); !strings.Contains(r.Message, pid) {
			t.Errorf("%q does not name %s", r.Message, pid)
		}
	}
}

func TestDryRunDoesNothing(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Below: []part{{Name: "tool"}}})
	s := set(t)
	s.DryRun = true
	r := s.stop("a")[0]
	want(t, c, r, Planned, "agent tool", "agent tool")
	if r.Message != "SIGTERM to "+c.seen["agent"].ID.String() || len(r.Signalled) > 0 {
		t.Errorf("%+v", r)
	}
}

// An interrupt ends the wait; what was signalled is said.
func TestInterrupted(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c.lines.Scan() // it ignores
		cancel()
	}()
	s := set(t)
	r := s.stopIn(ctx, s.sessions("a"))[0]
	want(t, c, r, Running, "agent", "agent")
	if got := sentTo(r, RoleAgent); !slices.Equal(got, []syscall.Signal{unix.SIGTERM}) || r.Message != "not waited for" {
		t.Errorf("%v, %q", got, r.Message)
	}
}

// TestInterruptedAnywhere: whenever it is interrupted, what is said is true: of the session, and of its tools.
func TestInterruptedAnywhere(t *testing.T) {
	outcomes := map[Outcome]int{}
	for look, looks := 2, 2; looks >= look; look++ { // at the first one nothing is done, and an error says so
		c := stage(t, part{Name: "agent", Runs: []string{"a"}, Below: []part{{Name: "tool", Setsid: true}}})
		ctx, cancel := context.WithCancel(t.Context())
		s := set(t)
		chosen := s.sessions("a")
		looks = 0
		s.take = func(ctx context.Context) (*proc.Table, error) {
			if looks++; looks == look {
				cancel()
			}
			return proc.ReadTable(ctx)
		}
		r := s.stopIn(ctx, chosen)[0]
		cancel()
		outcomes[r.Outcome]++
		alive := map[Outcome]string{Running: "agent tool", Failed: "tool", Stopped: ""}[r.Outcome]
		if r.Outcome == Running && len(r.Signalled) > 0 && c.alive("agent") == "" {
			alive = "tool" // what was signalled may end later
		}
		want(t, c, r, r.Outcome, "agent tool", alive)
		if sent := len(r.Signalled) > 0; sent == (r.Message == "nothing was done") {
			t.Errorf("interrupted at look %d: %+v", look, r)
		}
		if r.Outcome == Failed && !strings.HasPrefix(r.Message, "it is stopped, but its tool") {
			t.Errorf("interrupted at look %d: %q", look, r.Message)
		}
		set(t).stop("a")
	}
	if outcomes[Running] == 0 || outcomes[Failed] == 0 || outcomes[Stopped] < 2 {
		t.Errorf("the moments are no good: %v", outcomes)
	}
}

// A signalled agent that ends after it was last waited for has ended: the session is not said to run, and its tools are looked for.
func TestAgentThatEndsLate(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Ignores: []syscall.Signal{unix.SIGTERM}, Below: []part{{Name: "tool", Setsid: true}}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := set(t)
	chosen := s.sessions("a")
	go func() { // the agent says that it has the signal
		for c.lines.Scan() && c.lines.Text() != "agent ignores" {
		}
		cancel()
	}()
	s.take = func(taking context.Context) (*proc.Table, error) {
		if ctx.Err() != nil && taking.Err() == nil && c.alive("agent") != "" {
			c.killed("agent")
		}
		return proc.ReadTable(taking)
	}
	r := s.stopIn(ctx, chosen)[0]
	want(t, c, r, Failed, "agent tool", "tool")
	if !strings.HasPrefix(r.Message, "it is stopped, but its tool") || !slices.Equal(r.Survived, []proc.ID{c.seen["tool"].ID}) {
		t.Errorf("%+v", r)
	}
}

// asNobody names the process that the test run as nobody is to stop.
const asNobody = "STOP_TEST_AS_NOBODY"

// TestAnotherUsersAgent runs itself again as nobody, who may not signal root's process.
func TestAnotherUsersAgent(t *testing.T) {
	if pid, err := strconv.Atoi(os.Getenv(asNobody)); err == nil {
		stopAsNobody(t, pid)
		return
	}
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("under CI=true this test must run as root: it is another user's, too")
		}
		t.Skip("needs root, to be another user")
	}
	c := stage(t, part{Name: "agent", Runs: []string{"a"}})
	const nobody = 65534
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestAnotherUsersAgent$", "-test.v")
	cmd.Env = append(os.Environ(), asNobody+"="+strconv.Itoa(c.seen["agent"].ID.PID))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	want(t, c, Result{}, "", "agent", "agent")
}

func stopAsNobody(t *testing.T, pid int) {
	p, err := proc.Inspect(pid)
	if err != nil {
		t.Fatal(err)
	}
	before := discover.Session{Record: &discover.Record{Agent: "actor", ID: "a", Path: "/h/a"}, Status: discover.Unknown, Processes: []proc.Process{p}}
	r := set(t).stopIn(t.Context(), []discover.Session{before})[0]
	if r.Outcome != Failed || !strings.Contains(r.Message, "belongs to user 0") || len(r.Signalled) > 0 {
		t.Errorf("%+v", r)
	}
}

// What an agent that was started from within has started is its own, however deep, though it bears the session's marks only.
func TestNestedAgentThatMarksNothing(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{
		{Name: "tool", Setsid: true},
		{Name: "inner", Detached: true, Runs: []string{"i"}, Below: []part{{Name: "inner-tool", Below: []part{{Name: "inner-deep"}}}}},
	}})
	r := set(t).stop("a")[0]
	want(t, c, r, Stopped, "agent tool inner inner-tool inner-deep", "inner inner-tool inner-deep")
}
