package stop

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// What a crashed process of a session has left behind belongs to the session once it is resumed: a dry run names it, and stop ends
// it.
func TestLeftBehindBeforeResume(t *testing.T) {
	first := stage(t, part{Name: "first", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{
		{Name: "server", Detached: true, Below: []part{{Name: "child"}}},
	}}, part{Name: "bystander"})
	server := first.seen["server"]
	first.killed("first")
	c := resumed(t, first)

	s := set(t)
	if got := s.orphans(first, "server child"); got != "" {
		t.Errorf("while the session lives, %q are orphans", got)
	}
	left := []proc.ID{server.ID, first.seen["child"].ID}
	slices.SortFunc(left, func(a, b proc.ID) int { return a.PID - b.PID })
	s.DryRun = true
	r := s.stop("a")[0]
	slices.SortFunc(r.LeftBehind, func(a, b proc.ID) int { return a.PID - b.PID })
	if r.Outcome != Planned || !slices.Equal(r.LeftBehind, left) || !strings.Contains(r.Message, "SIGTERM to "+server.ID.String()) {
		t.Errorf("planned: %+v, want %v", r, left)
	}
	s.DryRun = false
	r = s.stop("a")[0]
	want(t, c, r, Stopped, "agent tool", "")
	want(t, first, r, Stopped, "server child bystander", "bystander")
	if len(r.LeftBehind) != 2 || !slices.Contains(sentTo(r, RoleTool), unix.SIGTERM) {
		t.Errorf("%+v", r)
	}
}

// resumed starts an agent with the session in a process that is younger than all of an earlier cast.
func resumed(t *testing.T, earlier *cast) *cast {
	t.Helper()
	for {
		c := stage(t, part{Name: "later"})
		now := c.seen["later"]
		c.killed("later")
		if !slices.ContainsFunc(slices.Collect(maps.Values(earlier.seen)), func(p proc.Process) bool { return p.Ticks >= now.Ticks }) {
			return stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{{Name: "tool", Detached: true}}})
		}
	}
}
