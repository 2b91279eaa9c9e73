package stop

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// orphans returns those of the names whose processes are found, in their order.
func (s *fixture) orphans(c *processes, names string) string {
	s.Helper()
	list, _, err := FindOrphans(s.Context(), s.scanner(), s.SelfPID, nil)
	if err != nil {
		s.Fatal(err)
	}
	var out []string
	for name := range strings.FieldsSeq(names) {
		if slices.ContainsFunc(list, func(o Orphan) bool { return o.ID == c.byName[name].ID }) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// endOrphans ends the orphans of the one session that has any.
func (s *fixture) endOrphans() Result {
	s.Helper()
	results, _, err := EndOrphans(s.Context(), s.scanner(), s.Options, nil)
	if err != nil || len(results) != 1 {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results[0]
}

// kill kills a process and waits for its end.
func (c *processes) kill(name string) {
	c.t.Helper()
	h, err := proc.Open(c.byName[name].ID)
	if err != nil {
		c.t.Fatal(err)
	}
	defer h.Close()
	if err := h.Signal(unix.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	if err := h.Wait(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// An orphan that ignores SIGTERM is killed only with force.
func TestOrphanThatIgnoresSIGTERM(t *testing.T) {
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", Children: []testProcess{
		{Name: "tool", Setsid: true, Ignores: []syscall.Signal{unix.SIGTERM}}, {Name: "other", Setsid: true},
	}})
	s := newFixture(t)
	c.kill("agent")
	s.Timeout = time.Second
	r := s.endOrphans()
	check(t, c, r, Failed, "tool other", "tool")
	if !slices.Equal(r.Survived, []proc.ID{c.byName["tool"].ID}) || !strings.Contains(r.Message, "--force kills") ||
		slices.Contains(sentTo(r, RoleTool), unix.SIGKILL) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	r = s.endOrphans()
	check(t, c, r, AlreadyStopped, "tool other", "")
	if got := sentTo(r, RoleTool); !slices.Equal(got, []syscall.Signal{unix.SIGTERM, unix.SIGKILL}) {
		t.Errorf("with force it was sent %v", got)
	}
}

// Orphans of the session that this process was started by are spared: its tool may be a terminal multiplexer in use.
func TestOrphansOfOwnSessionAreSpared(t *testing.T) {
	tools := func(of string) testProcess {
		return testProcess{Name: "agent-" + of, Sessions: []string{of}, SessionMarker: of, PIDMarker: true, Children: []testProcess{
			{Name: "shell-" + of, Setsid: true, Children: []testProcess{{Name: "one-" + of}, {Name: "other-" + of}}},
		}}
	}
	c := start(t, tools("a"), tools("b"))
	s := newFixture(t)
	c.kill("agent-a")
	c.kill("agent-b")
	s.SelfPID = c.byName["one-a"].ID.PID
	if got := s.orphans(c, "shell-a one-a other-a shell-b one-b other-b"); got != "shell-b one-b other-b" {
		t.Errorf("found %q", got)
	}
}
