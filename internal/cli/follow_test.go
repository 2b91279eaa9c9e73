package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// acts is an agent whose store and processes are others at each look.
type acts struct {
	*stub
	looks int
	act   func(look int, s *stub)
}

func (a *acts) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	a.looks++
	claims, err := a.stub.Claims(ctx, table, homes)
	a.act(a.looks, a.stub)
	return claims, err
}

// A sub-agent that begins while its session is followed is followed too, from its first message; the end is the session's.
func TestSubAgentsThatBeginAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, out := talkative(t)
		s := env.Adapters[1].(stub)
		child := record("eeeeeeee-9", "/w/a", discover.TurnOpen, time.Minute)
		child.Parent, child.Sub = "aaaaaaaa-1", true
		say := func(s *stub, id, text string) {
			s.said[id] = append(s.said[id], says(text, discover.RoleAssistant, text, 0))
		}
		env.Adapters = []discover.Adapter{&acts{stub: &s, act: func(look int, s *stub) {
			switch look {
			case 3: // one to find it, one to begin with
				s.records = append(s.records, child)
				say(s, "aaaaaaaa-1", "above")
				say(s, "eeeeeeee-9", "below")
				say(s, "eeeeeeee-9", "more")
			case 5:
				say(s, "eeeeeeee-9", "last")
				s.records[0].Turn.State = discover.TurnDone
				s.claims = nil
			}
		}}}
		o := &transcriptOptions{verb: "logs", limit: 1, follow: true, children: true, common: common{json: true}}
		world := env.world(nil)
		r, err := world.Find(t.Context(), "aaaaaaaa-1", nil, discover.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&telling{
			call: &call{Env: env, world: world}, options: o, quiet: func() {}, sessions: r.Sessions, family: world.TrackSubagents(),
		}).follow(t.Context()); err != nil {
			t.Error(err)
		}
		var told []string
		for line := range strings.Lines(out.stdout.String()) {
			valid(t, "message", line)
			_, rest, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			told = append(told, id)
		}
		// The call was open, and is cut in the end.
		if got := strings.Join(told, " "); got != "m3 above below more m3 last" && got != "m3 above below more last m3" {
			t.Errorf("told %s\n%s%s", got, out.stdout.String(), out.stderr.String())
		}
	})
}
