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
	*Stub
	looks int
	act   func(look int, s *Stub)
}

func (a *acts) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	a.looks++
	claims, err := a.Stub.Claims(ctx, table, homes)
	a.act(a.looks, a.Stub)
	return claims, err
}

// A sub-agent that begins while its session is followed is followed too, from its first message; the end is the session's.
func TestSubAgentsThatBeginAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, out := WithMessages(t)
		s := f.Adapters[1].(Stub)
		child := Record("eeeeeeee-9", "/w/a", discover.TurnOpen, time.Minute)
		child.Parent, child.Sub = "aaaaaaaa-1", true
		say := func(s *Stub, id, text string) {
			s.Transcripts[id] = append(s.Transcripts[id], Text(text, discover.RoleAssistant, text, 0))
		}
		f.Adapters = []discover.Adapter{&acts{Stub: &s, act: func(look int, s *Stub) {
			switch look {
			case 3: // one to find it, one to begin with
				s.Records = append(s.Records, child)
				say(s, "aaaaaaaa-1", "above")
				say(s, "eeeeeeee-9", "below")
				say(s, "eeeeeeee-9", "more")
			case 5:
				say(s, "eeeeeeee-9", "last")
				s.Records[0].Turn.State = discover.TurnDone
				s.ClaimList = nil
			}
		}}}
		o := &logsOptions{verb: "logs", limit: 1, follow: true, children: true, CommonFlags: CommonFlags{JSON: true}}
		world := f.NewScanner(nil)
		r, err := world.Find(t.Context(), "aaaaaaaa-1", nil, discover.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&logsReader{
			logsPrinter: newPrinter(&Call{Factory: f, Scanner: world}, o), endProgress: func() {}, sessions: r.Sessions, subagents: world.TrackSubagents(),
		}).follow(t.Context()); err != nil {
			t.Error(err)
		}
		var told []string
		for line := range strings.Lines(out.Stdout.String()) {
			CheckSchema(t, "message", line)
			_, rest, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			told = append(told, id)
		}
		// The call was open, and is cut in the end.
		if got := strings.Join(told, " "); got != "m3 above below more m3 last" && got != "m3 above below more last m3" {
			t.Errorf("told %s\n%s%s", got, out.Stdout.String(), out.Stderr.String())
		}
	})
}
