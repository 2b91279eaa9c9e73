package realagents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/output"
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
}

func agentctlIn(t *testing.T, w *world.World) agentctl { return agentctl{t: t, home: w.Home} }

// as is the program as a person runs it who has this release installed, in the directory that the agent works in.
func (c agentctl) as(a world.Agent) agentctl {
	c.env, c.dir = a.Environ(), a.Dir()
	return c
}

// session is a row as the program prints it.
type session = output.Session

// run returns what the program prints, and its exit code.
func (c agentctl) run(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Getenv(binary), args...)
	cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), errs.String(), code
}

// list returns the rows of this world: the machine may run other agents.
func (c agentctl) list(args ...string) []session {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"list", "--json"}, args...)...)
	if code != 0 {
		c.t.Fatalf("list %q: exit code %d\n%s", args, code, errs)
	}
	return c.rows(out)
}

func (c agentctl) rows(out string) []session {
	c.t.Helper()
	var rows []session
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	return slices.DeleteFunc(rows, func(r session) bool { return !strings.HasPrefix(r.Home, c.home) })
}

// status returns one session.
func (c agentctl) status(args ...string) session {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"status", "--json"}, args...)...)
	if code != 0 {
		c.t.Fatalf("status %q: exit code %d\n%s", args, code, errs)
	}
	var row session
	if err := json.Unmarshal([]byte(out), &row); err != nil {
		c.t.Fatalf("status %q: %v\n%s", args, err, out)
	}
	return row
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

// poll asks until the answer is yes, for as long as a very busy machine may need. Between two asks it lets the agents
// have the processor.
func poll(ask func() bool) bool { return world.Poll(time.Minute, ask) }

// runAmongMany is run for a launch beside others. Of many at once, one of OpenCode may wait too long for the others to write, and end with
// that (SEEN 1.18.33): then it is launched again.
func (c agentctl) runAmongMany(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	for {
		stdout, stderr, code = c.run(args...)
		if code != 1 || !strings.Contains(stderr, "opencode failed") || !strings.Contains(stderr, "database is locked") {
			return stdout, stderr, code
		}
	}
}
