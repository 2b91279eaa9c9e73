package realagents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/world"
)

// inhabitants are the living processes that were started with a home, as a person could read them.
func inhabitants(home string) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		raw, err2 := os.ReadFile(f)
		if err != nil || err2 != nil || !living(pid) || !slices.Contains(strings.Split(string(raw), "\x00"), "HOME="+home) {
			continue
		}
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		out = append(out, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(args), "\x00", " ")))
	}
	return out
}

// stopped stops a session and returns what is said of it.
func (c agentctl) stopped(args ...string) output.StopResult {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"stop", "--json"}, args...)...)
	var list []output.StopResult
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 {
		c.t.Fatalf("stop %q: exit code %d, %v\n%s%s", args, code, err, out, errs)
	}
	return list[0]
}

// TestStopLeavesNothing: F26. A run is stopped while its tool runs, and nothing of the tool goes on: neither what it has
// started beside itself, in a session of the kernel of its own or with an empty environment, nor what has left its
// parents, where the agent marks what it starts.
func TestStopLeavesNothing(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w)
		tool := w.Tool(a.Dir())
		seconds := fmt.Sprint(1e6 + float64(os.Getpid()))
		tree := fmt.Sprintf("sleep %[1]s & setsid sleep %[1]s & env -i sh -c 'sleep %[1]s & exec sleep %[1]s' & ", seconds)
		tree += "(setsid sleep " + seconds + " &) ; "
		prompt := "ends [[shell " + tree + tool.Command + "]]"
		p := a.Run(prompt)
		tool.WaitRunning()
		id := idOf(t, w, a, "ends [[shell")
		c.expect([]string{row(id, p.PID(), "running")})

		s := c.stopped(id)
		if s.Result != "stopped" || s.Session.Status != "stopped" || len(s.Survived) > 0 {
			t.Errorf("%+v", s)
		}
		if left := inhabitants(w.Home); len(left) > 0 {
			t.Errorf("there are left\n%s", strings.Join(left, "\n"))
		}
		if left := commandLineWith("sleep\x00" + seconds); left != "" {
			t.Errorf("there is left %q", left)
		}
		if again := c.stopped(id); again.Result != "already_stopped" || len(again.Signalled) > 0 {
			t.Errorf("a second time: %+v", again)
		}
	})
}
