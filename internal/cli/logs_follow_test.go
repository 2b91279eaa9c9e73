package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
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
			Call: &Call{Env: f, Scanner: world}, options: o, take: func(m object.Message) error { return render.JSONLine(f.Stdout, m) },
			sessions: r.Sessions, subagents: world.TrackSubagents(),
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

// script is a transcript that a test writes, oldest message first.
type script struct {
	messages []discover.Message
	// broken is why all but the last few messages cannot be read.
	broken error
	intact int
}

func (s *script) all() iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		for i, m := range slices.Backward(s.messages) {
			if s.broken != nil && i < len(s.messages)-s.intact {
				break
			}
			if !yield(m, nil) {
				return
			}
		}
		if s.broken != nil {
			yield(discover.Message{}, s.broken)
		}
	}
}

func (s *script) say(id string, minute int) {
	s.messages = append(s.messages, discover.Message{
		ID: id, Role: discover.RoleAssistant, Kind: discover.KindText, Text: "text of " + id, Time: Now().Add(time.Duration(minute) * time.Minute),
	})
}

func (s *script) call(id string, state discover.ToolState, minute int) {
	s.say(id, minute)
	m := &s.messages[len(s.messages)-1]
	m.Kind, m.Text, m.Tool = discover.KindTool, "", &discover.ToolCall{Name: "Bash", State: state}
}

func (s *script) set(id string, state discover.ToolState) {
	for i, m := range s.messages {
		if m.ID == id {
			s.messages[i].Tool = &discover.ToolCall{Name: "Bash", State: state}
		}
	}
}

func (s *script) filler(from, to int) {
	for i := from; i < to; i++ {
		s.say(fmt.Sprintf("f%d", i), i)
	}
}

// idsOfUpdates are the messages by their ids; with a * those that have changed.
func idsOfUpdates(list []update) string {
	var out []string
	for _, n := range list {
		id := n.ID
		if n.changed {
			id += "*"
		}
		if n.Tool != nil {
			id += ":" + string(n.Tool.State)
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

func idsOfMessages(list []discover.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

func notFailed(t *testing.T) func(error) { return func(err error) { t.Error(err) } }

// What an answer took may be stored after it.
func TestTokensStoredLaterAreUpdates(t *testing.T) {
	for _, tokens := range []bool{false, true} {
		s := &script{}
		s.filler(0, 3)
		known := newTracker(tokens)
		known.last(s.all(), 2, overlap, notFailed(t))
		s.messages[2].Tokens = &discover.Tokens{In: 1}
		want := map[bool]string{true: "f2*"}[tokens]
		for _, want := range []string{want, ""} {
			if got := idsOfUpdates(known.poll(s.all(), notFailed(t))); got != want {
				t.Errorf("tokens %v: %q, want %q", tokens, got, want)
			}
		}
	}
}

// What is remembered has a bound.
func TestTrackerMemoryIsBounded(t *testing.T) {
	s := &script{}
	known := newTracker(false)
	known.last(s.all(), 5, overlap, notFailed(t))
	for i := range 30 {
		s.call(fmt.Sprint("open", i), discover.ToolRunning, i*1000)
		s.filler(i*1000, i*1000+1000)
		if got := known.poll(s.all(), notFailed(t)); len(got) != 1001+min(i, 1) { // the end of the one before

			t.Fatalf("%d are new", len(got))
		}
		s.set(fmt.Sprint("open", i), discover.ToolDone)
	}
	if len(known.seen) > maxRemembered+2*1001 {
		t.Errorf("%d are remembered", len(known.seen))
	}
}

// Whatever happens between which looks: every message is told once, in order, and the end of every call.
func TestNoMessageIsLostOrRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &script{}
		s.filler(0, rapid.IntRange(0, 60).Draw(t, "before"))
		before := len(s.messages)
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		known := newTracker(false)
		last := known.last(s.all(), limit, overlap, func(error) {})
		told := map[string]string{}
		var order, running []string
		for _, m := range last {
			order = append(order, m.ID)
		}
		look := func() {
			for _, n := range known.poll(s.all(), func(error) {}) {
				state := "said"
				if n.Tool != nil {
					state = string(n.Tool.State)
				}
				if was, ok := told[n.ID]; ok != n.changed || was == state {
					t.Fatalf("%s was told as %q before, and now as %q", n.ID, was, state)
				}
				if told[n.ID] = state; !n.changed {
					order = append(order, n.ID)
				}
			}
		}
		for i := range rapid.IntRange(0, 80).Draw(t, "steps") {
			id := fmt.Sprint("n", i)
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				s.say(id, rapid.IntRange(0, 3000).Draw(t, "minute"))
			case 2:
				s.call(id, discover.ToolRunning, 2000+i)
				running = append(running, id)
			case 3:
				if len(running) > 0 {
					n := rapid.IntRange(0, len(running)-1).Draw(t, "call")
					s.set(running[n], discover.ToolDone)
					running = slices.Delete(running, n, n+1)
				}
			case 4:
				if len(known.seen) == 0 {
					continue // of what begins so nobody knows what is missing
				}
				s.broken, s.intact = errors.New("away"), rapid.IntRange(0, 40).Draw(t, "intact")
				look()
				s.broken = nil
			default:
				look()
			}
		}
		look()
		want := s.messages[max(0, before-limit):]
		if got := strings.Join(order, " "); got != idsOfMessages(want) {
			t.Fatalf("told %s\nwant %s", got, idsOfMessages(want))
		}
		for _, m := range s.messages[before:] {
			if m.Tool != nil && told[m.ID] != string(m.Tool.State) {
				t.Fatalf("%s is %s, told was %s", m.ID, m.Tool.State, told[m.ID])
			}
		}
	})
}
