package realagents

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestTheIDIsPrintedSoon after it first stands in the agent's own files: a launch looks often enough, and printing does
// not wait for what comes after the proof. How long a list takes, at the same time, is the measure.
func TestTheIDIsPrintedSoon(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w).as(a)
		var late, looks []time.Duration
		for range 3 {
			id, d := c.lateness(w, a)
			begun := time.Now()
			c.list()
			late, looks = append(late, d), append(looks, time.Since(begun))
			c.stopped(id)
		}
		slices.Sort(late)
		slices.Sort(looks)
		t.Logf("printed after %v; a list takes %v", late, looks)
		if most := 20 * looks[len(looks)/2]; late[len(late)/2] > most {
			t.Errorf("that is later than %s", most)
		}
	})
}

// lateness launches an agent and returns its session's ID, and how long after it had stood in the agent's own files it
// was printed.
func (c agentctl) lateness(w *world.World, a world.Agent) (id string, late time.Duration) {
	c.t.Helper()
	before := shownIDs(w, a)
	cmd := exec.Command(os.Getenv(binary), "launch", a.Agent(), "-p", "[[hang]]")
	cmd.Env, cmd.Dir = append([]string{"HOME=" + c.home}, c.env...), c.dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	said := make(chan time.Time, 1)
	lines := bufio.NewScanner(out)
	go func() {
		lines.Scan()
		said <- time.Now()
	}()
	var evident, printed time.Time
	asked := time.Now()                          // when it was not there yet: it may have come just then
	tick := time.NewTicker(5 * time.Millisecond) // agents need the processor
	defer tick.Stop()
	for printed.IsZero() {
		select {
		case <-tick.C:
			now := time.Now()
			if evident.IsZero() && len(shownIDs(w, a)) > len(before) {
				evident = asked
			}
			asked = now
		case printed = <-said:
		}
	}
	id = lines.Text()
	if err := cmd.Wait(); err != nil || !slices.Contains(shownIDs(w, a), id) || slices.Contains(before, id) {
		c.t.Fatalf("%q is printed, %v", id, err)
	}
	if evident.IsZero() { // its output named it first
		return id, 0
	}
	return id, printed.Sub(evident)
}

// shownIDs are those that stand where the agent first shows them: in its registry of processes, in the names of its
// locks and rollouts, or in its log.
func shownIDs(w *world.World, a world.Agent) []string {
	var text strings.Builder
	for _, pattern := range map[string][]string{
		install.ClaudeCode: {".claude/sessions/*.json"},
		install.Codex:      {".codex/thread-writer-locks/*", ".codex/sessions/*/*/*/*"},
		install.OpenCode:   {".local/share/opencode/log/*.log"},
	}[a.Agent()] {
		files, _ := filepath.Glob(filepath.Join(w.Home, pattern))
		for _, f := range files {
			text.WriteString(filepath.Base(f) + " ")
			if a.Agent() != install.Codex {
				raw, _ := os.ReadFile(f)
				text.Write(raw)
			}
		}
	}
	ids := regexp.MustCompile(`ses_[0-9A-Za-z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).FindAllString(text.String(), -1)
	slices.Sort(ids)
	return slices.Compact(ids)
}
