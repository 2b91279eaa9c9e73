package stop

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// The processes that a crashed process of a session left behind belong to the session once it is resumed: a dry run names them,
// and stop ends them.
func TestProcessesLeftBehindBeforeResume(t *testing.T) {
	first := start(t, testProcess{Name: "first", Sessions: []string{"a"}, SessionMarker: "a", PIDMarker: true, Children: []testProcess{
		{Name: "server", Detached: true, Children: []testProcess{{Name: "child"}}},
	}}, testProcess{Name: "bystander"})
	server := first.byName["server"]
	first.kill("first")
	c := resumed(t, first)

	s := newFixture(t)
	if got := s.orphans(first, "server child"); got != "" {
		t.Errorf("while the session lives, %q are orphans", got)
	}
	left := []proc.ID{server.ID, first.byName["child"].ID}
	slices.SortFunc(left, func(a, b proc.ID) int { return a.PID - b.PID })
	s.DryRun = true
	r := s.stop("a")[0]
	slices.SortFunc(r.LeftBehind, func(a, b proc.ID) int { return a.PID - b.PID })
	if r.Outcome != Planned || !slices.Equal(r.LeftBehind, left) || !strings.Contains(r.Message, "SIGTERM to "+server.ID.String()) {
		t.Errorf("planned: %+v, want %v", r, left)
	}
	s.DryRun = false
	r = s.stop("a")[0]
	check(t, c, r, Stopped, "agent tool", "")
	check(t, first, r, Stopped, "server child bystander", "bystander")
	if len(r.LeftBehind) != 2 || !slices.Contains(sentTo(r, RoleTool), unix.SIGTERM) {
		t.Errorf("%+v", r)
	}
}

// resumed starts an agent with the session, in a process that is younger than all earlier ones.
func resumed(t *testing.T, earlier *processes) *processes {
	t.Helper()
	for {
		c := start(t, testProcess{Name: "later"})
		now := c.byName["later"]
		c.kill("later")
		if !slices.ContainsFunc(slices.Collect(maps.Values(earlier.byName)), func(p proc.Process) bool { return p.Ticks >= now.Ticks }) {
			return start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", PIDMarker: true, Children: []testProcess{{Name: "tool", Detached: true}}})
		}
	}
}
