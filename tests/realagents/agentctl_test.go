package realagents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/object"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// binary names the environment variable with the path of the program under test; TestMain sets it.
const binary = "AGENTCTL_TEST_BINARY"

// build makes the program under test, as a user would.
func build(dir string) error {
	path := filepath.Join(dir, "agentctl")
	out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,urfave_cli_no_suggest", "-o", path, "agentctl").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building agentctl: %w\n%s", err, out)
	}
	return os.Setenv(binary, path)
}

// agentctl is the program under test, as a person with the world's home runs it.
type agentctl struct {
	t    *testing.T
	home string
	env  []string // beside HOME and PATH
	dir  string   // where it runs; "" is here
	by   []string // the command line that starts it
}

func agentctlIn(t *testing.T, w *world.World) agentctl { return agentctl{t: t, home: w.Home} }

// as is the program as a person runs it who has this release installed, in the directory that the agent works in.
func (c agentctl) as(a world.Agent) agentctl {
	c.env, c.dir = a.Environ(), a.Dir()
	return c
}

// newest is a world with the newest release of an agent.
func newest(t *testing.T, agent string) (*world.World, world.Agent, agentctl) {
	t.Helper()
	for _, r := range install.Newest() {
		if r.Agent == agent {
			w := world.New(t)
			a := w.Release(r)
			return w, a, agentctlIn(t, w).as(a)
		}
	}
	t.Fatal("no agent is called", agent)
	return nil, world.Agent{}, agentctl{}
}

// eachAgent runs a test on the newest release of each agent, except for those that cannot do what it tests.
func eachAgent(t *testing.T, test func(*testing.T, *world.World, world.Agent, agentctl), without ...string) {
	for _, r := range install.Newest() {
		if slices.Contains(without, r.Agent) {
			continue
		}
		t.Run(r.String(), func(t *testing.T) {
			w, a, c := newest(t, r.Agent)
			test(t, w, a, c)
		})
	}
}

// session is a row as the program prints it.
type session = object.Session

// command is the program with arguments, not started.
func (c agentctl) command(args ...string) *exec.Cmd {
	args = slices.Concat(c.by, []string{os.Getenv(binary)}, args)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...)
	cmd.Dir = c.dir
	return cmd
}

// run returns what the program prints, and its exit code.
func (c agentctl) run(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := c.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), errs.String(), code
}

// exits runs a command that must end with this code and say this.
func (c agentctl) exits(code int, say string, args ...string) (stdout string) {
	c.t.Helper()
	out, errs, got := c.run(args...)
	if got != code || !strings.Contains(out+errs, say) {
		c.t.Errorf("agentctl %.200q: exit code %d, want %d and %q\n%.500s%s", args, got, code, say, out, errs)
	}
	return out
}

// does runs a command that must succeed.
func (c agentctl) does(args ...string) string {
	c.t.Helper()
	return c.exits(0, "", args...)
}

// answer runs a command that must succeed, and decodes the JSON that it prints.
func (c agentctl) answer(to any, args ...string) {
	c.t.Helper()
	out, errs, code := c.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), to); err != nil || code != 0 {
		c.t.Fatalf("agentctl %q: exit code %d, %v\n%s%s", args, code, err, out, errs)
	}
}

// list returns the rows of this world: the machine may run other agents.
func (c agentctl) list(args ...string) (rows []session) {
	c.t.Helper()
	c.answer(&rows, append([]string{"list"}, args...)...)
	return slices.DeleteFunc(rows, func(r session) bool { return !strings.HasPrefix(r.Home, c.home) })
}

// status returns one session.
func (c agentctl) status(args ...string) (row session) {
	c.t.Helper()
	c.answer(&row, append([]string{"status"}, args...)...)
	return row
}

// peek returns the last messages of a session.
func (c agentctl) peek(id string, flags ...string) (messages []object.Message) {
	c.t.Helper()
	c.answer(&messages, append([]string{"peek", id}, flags...)...)
	return messages
}

// printed runs a command that prints an ID and nothing else.
func (c agentctl) printed(args ...string) string {
	c.t.Helper()
	out, errs, code := c.run(args...)
	id, rest, _ := strings.Cut(out, "\n")
	if code != 0 || id == "" || rest != "" {
		c.t.Fatalf("agentctl %.200q: exit code %d, printed %q\n%s", args, code, out, errs)
	}
	return id
}

// launched starts an agent and returns the ID that is printed.
func (c agentctl) launched(args ...string) string {
	c.t.Helper()
	return c.printed(append([]string{"launch"}, args...)...)
}

// resumed continues a session from a directory that is not its own, and returns the ID that is printed.
func (c agentctl) resumed(args ...string) string {
	c.t.Helper()
	c.dir = c.t.TempDir()
	return c.printed(append([]string{"resume"}, args...)...)
}

// stopped stops a session and returns what is said of it.
func (c agentctl) stopped(args ...string) object.StopResult {
	c.t.Helper()
	var list []object.StopResult
	c.answer(&list, append([]string{"stop"}, args...)...)
	if len(list) != 1 {
		c.t.Fatalf("stop %q: %+v", args, list)
	}
	return list[0]
}

// row is what a test expects of a session: id, process and status in one line.
func row(id string, pid int, status string) string {
	return fmt.Sprintf("%s pid %d %s", id, pid, status)
}

func rowOf(s session) string {
	id := "null"
	if s.ID != nil {
		id = *s.ID
	}
	status := s.Status
	for _, more := range []string{s.WaitingFor, s.Outcome} {
		if more != "" {
			status += " " + more
		}
	}
	return row(id, s.PID, status)
}

func rowsOf(list []session) []string {
	var out []string
	for _, s := range list {
		out = append(out, rowOf(s))
	}
	slices.Sort(out)
	return out
}

// expect asks until the answer is the expected one: agents write their storage and registry a moment after the fact.
// The last answer is shown if it never is.
func (c agentctl) expect(want []string, args ...string) []session {
	c.t.Helper()
	slices.Sort(want)
	var got []session
	if !poll(func() bool {
		got = c.list(args...)
		return slices.Equal(rowsOf(got), want)
	}) {
		c.t.Fatalf("agentctl list %s says\n  %s\nbut the truth is\n  %s", strings.Join(args, " "),
			strings.Join(rowsOf(got), "\n  "), strings.Join(want, "\n  "))
	}
	return got
}

// onlyID is the ID of the only live session, once it has one.
func (c agentctl) onlyID() (id string) {
	c.t.Helper()
	if !poll(func() bool {
		rows := c.list()
		if len(rows) == 1 && rows[0].ID != nil {
			id = *rows[0].ID
		}
		return id != ""
	}) {
		c.t.Fatalf("no session with an ID among %q", rowsOf(c.list()))
	}
	return id
}

// poll asks until the answer is yes, for as long as a very busy machine may need. Between two asks it lets the agents
// have the processor.
func poll(ask func() bool) bool { return world.Poll(2*time.Minute, ask) }

// TestInsideCodexSandbox: a tool in the sandbox, from which nothing else can be seen, knows its session; nothing outside is
// called stopped, and the guard says that it cannot see who is at work.
func TestInsideCodexSandbox(t *testing.T) {
	w, a, _ := newest(t, install.Codex)
	other := w.Claude(install.ClaudeCurrent).In(a.Dir())
	other.Run("stays at work [[hang]]")
	w.WaitCall("stays at work", 0)
	otherID := idOf(t, w, other, "stays at work")
	ask := func(args string) string { return os.Getenv(binary) + " " + args + "; echo exit $?; " }
	prompt := "look around"
	a.Run(prompt + " [[shell (" + ask("current -q") + ask("status "+otherID) + ask("guard -q") + ") > said 2>&1;; text done]]").Wait()
	raw, err := os.ReadFile(filepath.Join(a.Dir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	said := string(raw)
	if id := idOf(t, w, a, prompt); !strings.HasPrefix(said, id+"\nexit 0\n") {
		t.Errorf("the tool was told\n%s, its session is %s", said, id)
	}
	if regexp.MustCompile(`(?m)^status +stopped`).MatchString(said) {
		t.Errorf("a live session is called stopped:\n%s", said)
	}
	if !strings.HasSuffix(said, "exit 0\n") || strings.Count(said, "other sessions cannot be seen") != 2 {
		t.Errorf("it is not said what cannot be seen:\n%s", said)
	}
}
