package stop

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/discover"
)

// What the agent of a session is asked in its own way, it is asked only where the home is ours and the process too: nothing
// is run, and nothing sent, for a home that only a process names, or to another user's process.
func TestNobodyElseIsAsked(t *testing.T) {
	for name, test := range map[string]struct {
		deny func(s *setting, w *discover.Scanner)
		says string
	}{
		"a home that is only seen": {func(s *setting, _ *discover.Scanner) { s.seen = true }, "--home /h"},
		"another user's process":   {func(_ *setting, w *discover.Scanner) { w.UID++ }, "belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 && strings.Contains(name, "user") {
				t.Skip("only root sees another user's sessions in a home of ours")
			}
			c := stage(t, part{Name: "worker", Runs: []string{"a"}, Below: []part{{Name: "tool", Setsid: true}}})
			s := set(t)
			asked := 0
			s.end = func(discover.Session) (bool, error) { asked++; return true, nil }
			w := s.world()
			if test.deny(s, w); s.seen {
				w = s.world()
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
			r := stop()
			want(t, c, r, Refused, "worker tool", "worker tool")
			if !strings.Contains(r.Message, test.says) || len(r.Signalled) > 0 {
				t.Errorf("%+v", r)
			}
			s.Force = true
			want(t, c, stop(), Stopped, "worker tool", "")
			if asked > 0 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// One ID in two directories: what bears it in its environment is ended with the session that it can be tied to, and left
// where it may be the other's.
func TestOneIDInTwoDirectories(t *testing.T) {
	here, there, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	c := stage(t, part{Name: "agent", Runs: []string{"a"}, Mark: "a", Below: []part{
		{Name: "child", Setsid: true, Dir: there},
		{Name: "here", Detached: true, Dir: here},
		{Name: "there", Detached: true, Dir: there},
		{Name: "elsewhere", Detached: true, Dir: elsewhere},
	}})
	s := set(t)
	s.dir, s.copies = here, []string{there}
	r, err := s.world().List(t.Context(), discover.SessionFilter{})
	if err != nil || len(r.Sessions) != 1 {
		t.Fatalf("%+v, %v", r.Sessions, err)
	}
	got := s.stopIn(t.Context(), r.Sessions)[0]
	want(t, c, got, Stopped, "agent child here there elsewhere", "there elsewhere")
	if !strings.Contains(got.Message, "left "+c.seen["elsewhere"].ID.String()+": it may be of another session") {
		t.Errorf("the message is %q", got.Message)
	}
	if !slices.Contains(sentTo(got, RoleTool), unix.SIGTERM) {
		t.Errorf("%+v", got.Signalled)
	}
}
