package stop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
)

// testProcess says what a process of a test does. The process is this test binary.
type testProcess struct {
	// Name names the process in the test and in its command line.
	Name string
	// Sessions are the sessions that it runs as an agent; nil if it is no agent.
	Sessions []string
	// Shows are the sessions of which it shows one, as a client.
	Shows []string
	// Children are the processes it starts.
	Children []testProcess
	// Dir is its working directory; "" is the one it was started in.
	Dir string
	// Detached: its parent ends at once, and it leads a kernel session. Setsid: only the latter.
	Detached, Setsid bool
	// SessionMarker is the session that its children's environment names. PIDMarker: their environment names its pid.
	SessionMarker string
	PIDMarker     bool
	// Ignores are signals that do not end it. It prints "NAME ignores" for each.
	Ignores []syscall.Signal
	// Successors is how many successors follow one another: each process starts the next one when a signal ends it.
	// SuccessorsSetsid: each leads a kernel session of its own.
	Successors       int
	SuccessorsSetsid bool
}

// The environment of the tests' processes.
const (
	sessionMarkerKey = "STOP_TEST_SESSION"
	pidMarkerKey     = "STOP_TEST_PID"
	testKey          = "STOP_TEST_NAME" // the test that started them
)

// argPrefix begins the command line of each.
const argPrefix = "testagent"

func TestMain(m *testing.M) {
	if strings.HasPrefix(os.Args[0], argPrefix+" ") {
		var p testProcess
		if err := json.Unmarshal([]byte(os.Args[1]), &p); err != nil {
			panic(err)
		}
		p.run()
	}
	os.Exit(m.Run())
}

// run is what the process does. It prints "NAME PID" once it has started its children. With one more argument, it exits instead.
func (p testProcess) run() {
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) }) // a test run that is killed leaves the process behind
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if p.Dir != "" && os.Args[0] == argPrefix+" "+p.Name {
		if err := os.Chdir(p.Dir); err != nil {
			panic(err)
		}
	}
	if p.PIDMarker {
		setenv(pidMarkerKey, fmt.Sprint(os.Getpid()))
	}
	if p.SessionMarker != "" {
		setenv(sessionMarkerKey, p.SessionMarker)
	}
	for _, c := range p.Children {
		c.start()
	}
	if len(os.Args) > 2 {
		os.Exit(0)
	}
	fmt.Println(p.Name, os.Getpid())
	for sig := range signals {
		ignored := false
		for _, i := range p.Ignores {
			ignored = ignored || i == sig
		}
		if ignored {
			fmt.Println(p.Name, "ignores")
			continue
		}
		if p.Successors > 0 {
			successor := p
			successor.Successors--
			successor.Setsid = p.SuccessorsSetsid
			successor.start()
		}
		os.Exit(0)
	}
}

func setenv(key, value string) {
	if err := os.Setenv(key, value); err != nil {
		panic(err)
	}
}

// start starts the process. The parent of a detached process exits at once.
func (p testProcess) start() {
	if p.Detached {
		parent := testProcess{Name: "parent", Children: []testProcess{p}}
		parent.Children[0].Detached, parent.Children[0].Setsid = false, true
		cmd := parent.command()
		cmd.Args = append(cmd.Args, "exit")
		if err := cmd.Run(); err != nil {
			panic(err)
		}
		return
	}
	if err := p.command().Start(); err != nil {
		panic(err)
	}
}

func (p testProcess) command() *exec.Cmd {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := &exec.Cmd{
		Path: self, Args: []string{argPrefix + " " + p.Name, string(text)},
		Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: &syscall.SysProcAttr{Setsid: p.Setsid},
	}
	return cmd
}

// processes are the processes of a test.
type processes struct {
	t *testing.T
	// lines are what the processes print.
	lines  *bufio.Scanner
	byName map[string]proc.Process
}

// start starts the processes and waits until each of them has printed its pid.
func start(t *testing.T, list ...testProcess) *processes {
	t.Helper()
	t.Setenv(testKey, t.Name()+fmt.Sprint(os.Getpid()))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each process takes a second to exit
	r, w, err := os.Pipe()
	must.Do(t, err)
	c := &processes{t, bufio.NewScanner(r), map[string]proc.Process{}}
	var started []*exec.Cmd
	want := 0
	for _, p := range list {
		cmd := p.command()
		cmd.Stdout = w
		must.Do(t, cmd.Start())
		started = append(started, cmd)
		want += p.count()
	}
	w.Close()
	t.Cleanup(func() { c.killAll(started); r.Close() })
	for len(c.byName) < want {
		c.readLine()
	}
	return c
}

// count returns the number of processes: p and all below it.
func (p testProcess) count() int {
	n := 1
	for _, child := range p.Children {
		n += child.count()
	}
	return n
}

// readLine reads one line that a process prints.
func (c *processes) readLine() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("all processes have ended: %v", c.lines.Err())
	}
	c.record(c.lines.Text())
	return c.lines.Text()
}

// record records the process that a line names.
func (c *processes) record(line string) {
	var name string
	var pid int
	if n, _ := fmt.Sscan(line, &name, &pid); n != 2 {
		return
	}
	if p, err := proc.Inspect(pid); err == nil {
		c.byName[name] = p
	}
}

// killAll kills all processes, also those that are still being started: once the pipe has no writer, none is left.
func (c *processes) killAll(started []*exec.Cmd) {
	for _, p := range c.byName {
		kill(p.ID)
	}
	for c.lines.Scan() {
		c.record(c.lines.Text())
		for _, p := range c.byName {
			kill(p.ID)
		}
	}
	for _, cmd := range started {
		_ = cmd.Wait()
	}
}

// kill kills a process if it is alive.
func kill(id proc.ID) {
	if h, err := proc.Open(id); err == nil {
		_ = h.Signal(unix.SIGKILL)
		h.Close()
	}
}

// alive returns the names of those that are alive, separated by spaces.
func (c *processes) alive(names ...string) string {
	c.t.Helper()
	var out []string
	for _, name := range names {
		p, ok := c.byName[name]
		if !ok {
			c.t.Fatalf("there is no %s", name)
		}
		if now, err := proc.Inspect(p.ID.PID); err == nil && now.ID == p.ID && now.Alive() {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// testAdapter is the adapter of the tests' agent. Every session that it is asked for is stored.
type testAdapter struct {
	launch.Defaults
	// test is the test whose processes it sees.
	test    string
	signals []syscall.Signal
	// interrupt answers a request to interrupt a session. nil: no session needs a request.
	interrupt func(context.Context, discover.Session) (bool, error)
	// idle: no turn is in progress.
	idle *atomic.Bool
	// dir is the sessions' directory; otherDirs are directories that have a session of each ID as well.
	dir       string
	otherDirs []string
}

func (testAdapter) Name() discover.Agent { return "testagent" }

func (testAdapter) Homes(discover.HomeSources, *proc.Table) []discover.Home {
	return []discover.Home{{Dir: "/h", FromUser: true}}
}

func (a testAdapter) Claims(_ context.Context, table *proc.Table, _ []discover.Home) (claims []discover.Claim, err error) {
	for p := range table.All() {
		found, ok := a.testProcess(p)
		base := discover.Claim{Agent: a.Name(), Process: p.ID, Home: "/h"}
		for _, id := range found.Shows {
			c := base
			c.Session, c.Path, c.Strength, c.Kind, c.Client = id, "/h/"+id, discover.Weak, "args", true
			claims = append(claims, c)
		}
		if !ok || found.Sessions == nil {
			continue
		}
		claims = append(claims, base)
		for _, id := range found.Sessions {
			c := base
			c.Session, c.Path, c.Strength, c.Kind = id, "/h/"+id, discover.Exact, "args"
			if a.idle.Load() {
				c.Turn = &discover.Turn{State: discover.TurnDone}
			}
			if strings.HasPrefix(id, "perhaps-") {
				c.Strength = discover.Weak
			}
			claims = append(claims, c)
		}
	}
	return claims, nil
}

// testProcess returns what a process of this test was started with.
func (a testAdapter) testProcess(p proc.Process) (found testProcess, ok bool) {
	args, err := p.Args()
	if err != nil || len(args) < 2 || !strings.HasPrefix(args[0], argPrefix+" ") || !p.Alive() {
		return found, false
	}
	env, err := p.Env(testKey)
	return found, err == nil && env[testKey] == a.test && json.Unmarshal([]byte(args[1]), &found) == nil
}

func (a testAdapter) Entries(_ context.Context, _ []discover.Home, q discover.EntryFilter) (list []discover.Entry, err error) {
	refs := q.Refs
	if len(refs) == 0 {
		refs = []discover.Ref{{ID: q.ID, Path: "/h/" + q.ID}}
	}
	for _, r := range refs {
		list = append(list, discover.Entry{Agent: "testagent", ID: r.ID, Path: r.Path, Home: "/h"})
		for _, dir := range a.otherDirs {
			if len(q.Refs) == 0 {
				list = append(list, discover.Entry{Agent: "testagent", ID: r.ID, Path: dir, Home: "/h"})
			}
		}
	}
	return list, nil
}

func (a testAdapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			r := discover.Record{Agent: "testagent", ID: e.ID, Path: e.Path, Home: e.Home, Turn: discover.Turn{State: discover.TurnOpen}}
			if r.Dir = a.dir; filepath.Dir(e.Path) != "/h" {
				r.Dir = e.Path
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (testAdapter) Spec(launch.Request, launch.Environment) (launch.Spec, error) { panic("not used") }

func (testAdapter) ParseOutput(launch.Output) launch.ParsedOutput { panic("not used") }

func (testAdapter) ScrubbedEnv() []string { return nil }

func (a testAdapter) StopSignals() []syscall.Signal {
	if a.signals == nil {
		return a.Defaults.StopSignals()
	}
	return a.signals
}

func (a testAdapter) NeedsInterrupt(discover.Session) bool { return a.interrupt != nil }

func (a testAdapter) Interrupt(ctx context.Context, s discover.Session, _ launch.Environment) (bool, error) {
	if a.interrupt == nil {
		return false, nil
	}
	return a.interrupt(ctx, s)
}

func (testAdapter) MarkerKeys() []string { return []string{testKey, sessionMarkerKey, pidMarkerKey} }

func (testAdapter) IsAgentProcess(proc.Process) bool { return false }

// ReadMarker reads markers of its own test only: the same test may be running elsewhere on the machine.
func (a testAdapter) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	pid, _ := strconv.Atoi(getenv(pidMarkerKey))
	marker := discover.EnvMarker{Session: getenv(sessionMarkerKey), PID: pid}
	return marker, marker != discover.EnvMarker{} && getenv(testKey) == a.test
}

func (a testAdapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(a.MarkerKeys()...)
	if err != nil || env[testKey] != a.test {
		return false
	}
	return env[sessionMarkerKey] != "" && env[sessionMarkerKey] == s.ID || slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		return env[pidMarkerKey] == fmt.Sprint(q.ID.PID) && p.Ticks >= q.Ticks
	})
}

// fixture is the scanner and the options of one test.
type fixture struct {
	*testing.T
	testAdapter
	Options
	// readTable reads the process table.
	readTable func(context.Context, bool) (*proc.Table, error)
	pid       int // of the process that stops
}

// newFixture makes the fixture for the processes that the test starts.
func newFixture(t *testing.T) *fixture {
	return &fixture{
		t,
		testAdapter{test: t.Name() + fmt.Sprint(os.Getpid()), idle: &atomic.Bool{}},
		Options{Timeout: time.Minute},
		proc.ReadTable, os.Getpid(),
	}
}

func (s *fixture) scanner() *discover.Scanner {
	return &discover.Scanner{
		Adapters: []discover.Adapter{s.testAdapter},
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: s.readTable, UID: os.Geteuid(), PID: s.pid,
	}
}

// sessions finds sessions by their IDs.
func (s *fixture) sessions(ids ...string) (out []discover.Session) {
	s.Helper()
	for _, id := range ids {
		r, err := s.scanner().Find(s.Context(), id, nil, discover.ReadOptions{})
		if err != nil {
			s.Fatal(err)
		}
		out = append(out, r.Sessions...)
	}
	return out
}

// stop stops sessions.
func (s *fixture) stop(ids ...string) []Result {
	s.Helper()
	return s.stopSessions(s.Context(), s.sessions(ids...))
}

func (s *fixture) stopSessions(ctx context.Context, chosen []discover.Session) []Result {
	s.Helper()
	results, err := Sessions(ctx, s.scanner(), chosen, s.Options)
	if err != nil || len(results) != len(chosen) {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results
}

// check compares the outcome, and which of the processes are alive.
func check(t *testing.T, c *processes, r Result, outcome Outcome, names, alive string) {
	t.Helper()
	if r.Outcome != outcome {
		t.Errorf("the outcome is %s (%s), want %s", r.Outcome, r.Message, outcome)
	}
	if got := c.alive(strings.Fields(names)...); got != alive {
		t.Errorf("of %q, %q are alive, want %q", names, got, alive)
	}
}

// sentTo returns the signals to the processes of one role.
func sentTo(r Result, role Role) (out []syscall.Signal) {
	for _, s := range r.Signalled {
		if s.Role == role {
			out = append(out, s.Signal)
		}
	}
	return out
}
