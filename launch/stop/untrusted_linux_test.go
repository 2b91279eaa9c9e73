package stop

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/discover"
)

// No agent is asked to end a session in a home that only a process names, or in another user's process. A dry run says the same.
func TestUntrustedAgentIsNotAsked(t *testing.T) {
	for name, test := range map[string]struct {
		deny func(s *fixture, w *discover.Scanner)
		says string
	}{
		"a home that is only seen": {func(s *fixture, _ *discover.Scanner) { s.homeSeen = true }, "--home /h"},
		"another user's process":   {func(_ *fixture, w *discover.Scanner) { w.UID++ }, "belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 && strings.Contains(name, "user") {
				if os.Getenv("CI") == "true" {
					t.Fatal("under CI=true this test must run as root, which sees another user's sessions in a home of ours")
				}
				t.Skip("only root sees another user's sessions in a home of ours")
			}
			c := start(t, testProcess{Name: "worker", Sessions: []string{"a"}, Children: []testProcess{{Name: "tool", Setsid: true}}})
			s := newFixture(t)
			asked := 0
			s.interrupt = func(context.Context, discover.Session) (bool, error) { asked++; return true, nil }
			w := s.scanner()
			if test.deny(s, w); s.homeSeen {
				w = s.scanner()
			}
			stop := func() Result {
				r, err := w.Find(t.Context(), "a", nil, discover.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				results, err := Sessions(t.Context(), w, r.Sessions, s.Options)
				if err != nil || len(results) != 1 {
					t.Fatalf("%d results, %v", len(results), err)
				}
				return results[0]
			}
			s.DryRun = true
			planned := stop()
			s.DryRun = false
			r := stop()
			check(t, c, r, Refused, "worker tool", "worker tool")
			if !strings.Contains(r.Message, test.says) || len(r.Signalled) > 0 || planned.Outcome != Refused || planned.Message != r.Message {
				t.Errorf("%+v, planned %+v", r, planned)
			}
			s.Force = true
			check(t, c, stop(), Stopped, "worker tool", "")
			if asked > 0 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// With one ID in two directories, a process whose marker names it is ended with the session that it can be tied to, and left
// if it may be the other's.
func TestMarkerOfAnIDInTwoDirectories(t *testing.T) {
	here, there, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	c := start(t, testProcess{Name: "agent", Sessions: []string{"a"}, SessionMarker: "a", Children: []testProcess{
		{Name: "child", Setsid: true, Dir: there},
		{Name: "here", Detached: true, Dir: here},
		{Name: "there", Detached: true, Dir: there},
		{Name: "elsewhere", Detached: true, Dir: elsewhere},
	}})
	s := newFixture(t)
	s.dir, s.otherDirs = here, []string{there}
	r, err := s.scanner().List(t.Context(), discover.SessionFilter{})
	if err != nil || len(r.Sessions) != 1 {
		t.Fatalf("%+v, %v", r.Sessions, err)
	}
	got := s.stopSessions(t.Context(), r.Sessions)[0]
	check(t, c, got, Stopped, "agent child here there elsewhere", "there elsewhere")
	if !strings.Contains(got.Message, "left "+c.byName["elsewhere"].ID.String()+": it may be of another session") {
		t.Errorf("the message is %q", got.Message)
	}
	if !slices.Contains(sentTo(got, RoleTool), unix.SIGTERM) {
		t.Errorf("%+v", got.Signalled)
	}
}
