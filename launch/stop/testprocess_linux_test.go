package stop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
