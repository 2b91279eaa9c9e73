package stop

import (
	"context"
	"os"
	"strings"
	"testing"

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
