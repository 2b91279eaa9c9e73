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

// orphans are the names of those that are found, in the order of the cast's names.
func (s *setting) orphans(c *cast, names string) string {
	s.Helper()
	list, _, err := FindOrphans(s.Context(), s.world(), s.SelfPID, nil)
	if err != nil {
		s.Fatal(err)
	}
	var out []string
	for name := range strings.FieldsSeq(names) {
		if slices.ContainsFunc(list, func(o Orphan) bool { return o.ID == c.seen[name].ID }) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// endOrphans ends what is left behind by the one session of which there is anything.
func (s *setting) endOrphans() Result {
	s.Helper()
	results, _, err := EndOrphans(s.Context(), s.world(), s.Options, nil)
	if err != nil || len(results) != 1 {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results[0]
}

// killed ends one of the cast at once, and waits for that.
func (c *cast) killed(name string) {
	c.t.Helper()
	h, err := proc.Open(c.seen[name].ID)
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

// Processes that dead sessions left behind are found by their marks and by descent; never those of a live session, nor a
// live agent that was started from within, nor what that has started, nor a bystander.
func TestOrphans(t *testing.T) {
	c := stage(
		t,
		part{Name: "agent", Runs: []string{"a"}, Mark: "a", MarkPID: true, Below: []part{
			{Name: "tool", Setsid: true, Below: []part{{Name: "its-child"}}},
			{Name: "daemon", Detached: true},
			{Name: "inner", Detached: true, Runs: []string{"i"}, Mark: "i", MarkPID: true, Below: []part{
				{Name: "inner-tool"}, {Name: "inner-daemon", Detached: true},
			}},
			{Name: "plain", Detached: true, Runs: []string{"p"}, Below: []part{{Name: "plain-tool", Below: []part{{Name: "plain-deep"}}}}},
		}},
		part{Name: "living", Runs: []string{"b"}, Mark: "b", Below: []part{{Name: "living-tool"}, {Name: "living-daemon", Detached: true}}},
		part{Name: "bystander"},
	)
	const all = "agent tool its-child daemon inner inner-tool inner-daemon plain plain-tool plain-deep living living-tool living-daemon bystander"
	s := set(t)
	if got := s.orphans(c, all); got != "" {
		t.Errorf("while the session lives: %q", got)
	}
	c.killed("agent")
	if got, want := s.orphans(c, all), "tool its-child daemon"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	s.DryRun = true
	if r := s.endOrphans(); r.Outcome != Planned || strings.Count(r.Message, "SIGTERM to pid ") != 3 {
		t.Errorf("planned: %+v", r)
	}
	s.DryRun = false
	r := s.endOrphans()
	want(t, c, r, AlreadyStopped, all, strings.ReplaceAll(strings.TrimPrefix(all, "agent tool its-child daemon "), "  ", " "))
	if got := sentTo(r, RoleTool); len(got) != 3 || slices.Contains(got, unix.SIGKILL) || r.Before.ID != "a" {
		t.Errorf("%+v", r)
	}
	if got := s.orphans(c, all); got != "" {
		t.Errorf("afterwards: %q", got)
	}
}

// What takes no notice of SIGTERM is killed with --force only.
func TestStubbornOrphans(t *testing.T) {
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", Below: []part{
		{Name: "tool", Setsid: true, Ignores: []syscall.Signal{unix.SIGTERM}}, {Name: "meek", Setsid: true},
	}})
	s := set(t)
	c.killed("agent")
	s.Timeout = 100 * time.Millisecond
	r := s.endOrphans()
	want(t, c, r, Failed, "tool meek", "tool")
	if !slices.Equal(r.Survived, []proc.ID{c.seen["tool"].ID}) || !strings.Contains(r.Message, "--force kills") ||
		slices.Contains(sentTo(r, RoleTool), unix.SIGKILL) {
		t.Errorf("%+v", r)
	}
	s.Force = true
	r = s.endOrphans()
	want(t, c, r, AlreadyStopped, "tool meek", "")
	if got := sentTo(r, RoleTool); !slices.Equal(got, []syscall.Signal{unix.SIGTERM, unix.SIGKILL}) {
		t.Errorf("with force it was sent %v", got)
	}
}

// Whoever was left behind by the same session as we are is spared: in a terminal multiplexer that its tool has started
// somebody may be at work, with us.
func TestOrphansSpareUs(t *testing.T) {
	tools := func(of string) part {
		return part{Name: "agent-" + of, Runs: []string{of}, Mark: of, MarkPID: true, Below: []part{
			{Name: "shell-" + of, Setsid: true, Below: []part{{Name: "one-" + of}, {Name: "other-" + of}}},
		}}
	}
	c := stage(t, tools("a"), tools("b"))
	s := set(t)
	c.killed("agent-a")
	c.killed("agent-b")
	s.SelfPID = c.seen["one-a"].ID.PID
	if got := s.orphans(c, "shell-a one-a other-a shell-b one-b other-b"); got != "shell-b one-b other-b" {
		t.Errorf("found %q", got)
	}
}
