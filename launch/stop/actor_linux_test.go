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

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// part is what a process of a test does: this test binary plays it.
type part struct {
	// Name is what the process is called in the test, and in its command line.
	Name string
	// Runs are the sessions of an agent; nil for a process that is none.
	Runs []string
	// Below are the processes it starts.
	Below []part
	// Dir is where it works; "" is where it was started.
	Dir string
	// Detached: its parent ends at once, and it is in a session of the kernel of its own. Setsid: only that.
	Detached, Setsid bool
	// Mark is the session that it names in its children's environment; MarkPID: it names itself there.
	Mark    string
	MarkPID bool
	// Ignores are signals that it lets pass; of SIGTERM it says so.
	Ignores []syscall.Signal
	// Heirs is how many generations of successors are started, each when its predecessor is asked to end; they stay in
	// its session of the kernel, or each makes its own.
	Heirs int
	Roams bool
}

// The environment of the tests' processes.
const (
	sessionMark = "STOP_TEST_SESSION"
	pidMark     = "STOP_TEST_PID"
	stageKey    = "STOP_TEST_STAGE" // which test's they are
)

// actorWord stands at the beginning of the command line of each.
const actorWord = "actor"

func TestMain(m *testing.M) {
	if strings.HasPrefix(os.Args[0], actorWord+" ") {
		var p part
		if err := json.Unmarshal([]byte(os.Args[1]), &p); err != nil {
			panic(err)
		}
		p.play()
	}
	os.Exit(m.Run())
}

// play is the whole life of a process. It says "NAME PID" when all it starts has been started. With one more argument,
// that is all.
func (p part) play() {
	ask := make(chan os.Signal, 1)
	signal.Notify(ask, syscall.SIGTERM, syscall.SIGINT)
	if p.Dir != "" && os.Args[0] == actorWord+" "+p.Name {
		if err := os.Chdir(p.Dir); err != nil {
			panic(err)
		}
	}
	if p.MarkPID {
		mark(pidMark, fmt.Sprint(os.Getpid()))
	}
	if p.Mark != "" {
		mark(sessionMark, p.Mark)
	}
	for _, c := range p.Below {
		c.start()
	}
	if len(os.Args) > 2 {
		os.Exit(0)
	}
	fmt.Println(p.Name, os.Getpid())
	for sig := range ask {
		ignored := false
		for _, i := range p.Ignores {
			ignored = ignored || i == sig
		}
		if ignored {
			fmt.Println(p.Name, "ignores")
			continue
		}
		if p.Heirs > 0 {
			heir := p
			heir.Heirs--
			heir.Setsid = p.Roams
			heir.start()
		}
		os.Exit(0)
	}
}

func mark(key, value string) {
	if err := os.Setenv(key, value); err != nil {
		panic(err)
	}
}

// start starts a process. What is to be detached is started by one in between that ends at once.
func (p part) start() {
	if p.Detached {
		between := part{Name: "between", Below: []part{p}}
		between.Below[0].Detached, between.Below[0].Setsid = false, true
		cmd := between.command()
		cmd.Args = append(cmd.Args, "leave")
		if err := cmd.Run(); err != nil {
			panic(err)
		}
		return
	}
	if err := p.command().Start(); err != nil {
		panic(err)
	}
}

func (p part) command() *exec.Cmd {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := &exec.Cmd{
		Path: self, Args: []string{actorWord + " " + p.Name, string(text)},
		Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: &syscall.SysProcAttr{Setsid: p.Setsid},
	}
	return cmd
}

// cast are the processes of a test.
type cast struct {
	t     *testing.T
	lines *bufio.Scanner
	seen  map[string]proc.Process
}

// stage starts the parts and waits until each of them is there.
func stage(t *testing.T, parts ...part) *cast {
	t.Helper()
	t.Setenv(stageKey, t.Name()+fmt.Sprint(os.Getpid()))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each process, else
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &cast{t, bufio.NewScanner(r), map[string]proc.Process{}}
	var started []*exec.Cmd
	want := 0
	for _, p := range parts {
		cmd := p.command()
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, cmd)
		want += p.count()
	}
	w.Close()
	t.Cleanup(func() { c.end(started); r.Close() })
	for len(c.seen) < want {
		c.read()
	}
	return c
}

// count is how many processes a part is.
func (p part) count() int {
	n := 1
	for _, b := range p.Below {
		n += b.count()
	}
	return n
}

// read takes a line: one more process, or what one says.
func (c *cast) read() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("all are gone: %v", c.lines.Err())
	}
	c.know(c.lines.Text())
	return c.lines.Text()
}

func (c *cast) know(line string) {
	var name string
	var pid int
	if n, _ := fmt.Sscan(line, &name, &pid); n != 2 {
		return
	}
	// One that has ended by now is as good as never seen.
	if p, err := proc.Inspect(pid); err == nil {
		c.seen[name] = p
	}
}

// end kills what is left. Once nobody can write to the pipe, nobody is left.
func (c *cast) end(started []*exec.Cmd) {
	for _, p := range c.seen {
		kill(p.ID)
	}
	for c.lines.Scan() {
		c.know(c.lines.Text())
		for _, p := range c.seen {
			kill(p.ID)
		}
	}
	for _, cmd := range started {
		_ = cmd.Wait()
	}
}

func kill(id proc.ID) {
	if h, err := proc.Open(id); err == nil {
		_ = h.Signal(unix.SIGKILL)
		h.Close()
	}
}

// alive reports which of these live, as one text.
func (c *cast) alive(names ...string) string {
	c.t.Helper()
	var out []string
	for _, name := range names {
		p, ok := c.seen[name]
		if !ok {
			c.t.Fatalf("there is no %s", name)
		}
		if now, err := proc.Inspect(p.ID.PID); err == nil && now.ID == p.ID && now.Alive() {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}
