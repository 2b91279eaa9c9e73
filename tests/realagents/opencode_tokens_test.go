package realagents

import (
	"encoding/json"
	"math"
	"testing"

	"agentctl/tests/realagents/world"
)

// exported is what matters of a session as `opencode export` prints it.
type exported struct {
	Info struct {
		Cost   *float64
		Tokens *openCodeTokens
		Time   struct{ Created int64 }
	}
	Messages []struct {
		Info struct {
			Role   string
			Cost   float64
			Tokens openCodeTokens
			Time   struct{ Created int64 }
		}
	}
}

type openCodeTokens struct {
	Input, Output, Reasoning int64
	Cache                    struct{ Read, Write int64 }
}

func (t openCodeTokens) total() int64 {
	return t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write
}

// spent is what a session took by the agent's own word: in all, and without the answers from before there was the session,
// which another one's messages brought along.
func (e exported) spent() (all, own int64, cost float64) {
	for _, m := range e.Messages {
		all += m.Info.Tokens.total()
		if m.Info.Time.Created >= e.Info.Time.Created {
			own += m.Info.Tokens.total()
			cost += m.Info.Cost
		}
	}
	return all, own, cost
}

// What an answer of the model takes, and what the agent reckons for it.
const (
	answerTokens = 1000 + 7 + 11 + 50
	answerCost   = (1000*3 + 7*3.75 + 11*0.3 + 50*15) / 1e6
)

// sessionsAddUp: "per-session totals …: sub-agents included, forks not counted twice", as the agent itself has them for each
// session, and in all as many answers as the model has given. All sessions but id are forks; copies is how many answers they have
// taken over.
func (c agentctl) sessionsAddUp(a world.Agent, id string, answers int64) (copies int64) {
	c.t.Helper()
	var spent int64
	var cost float64
	for _, s := range c.list("-a", "--tokens") {
		spent, cost = spent+s.Tokens.Total, cost+*s.Cost
		if s.Tokens.Context != answerTokens {
			c.t.Errorf("%s: the context is %d", *s.ID, s.Tokens.Context)
		}
		copies += compareWithExport(c.t, a, c, s, *s.ID != id) / answerTokens
	}
	if spent != answers*answerTokens || !near(cost, float64(answers)*answerCost) {
		c.t.Errorf("in all %d tokens for %g, the model gave %d answers", spent, cost, answers)
	}
	return copies
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// compareWithExport compares a session, with its sub-agents, with what the agent says of it. It returns the tokens of answers that it
// has taken over.
func compareWithExport(t *testing.T, a world.Agent, c agentctl, s session, isCopy bool) (copied int64) {
	t.Helper()
	var e exported
	if err := json.Unmarshal([]byte(a.Output("export", *s.ID)), &e); err != nil {
		t.Fatal(err)
	}
	all, own, cost := e.spent()
	if sum := e.Info.Tokens; sum != nil && sum.total() != all {
		t.Errorf("%s: the agent's own sum is %d, that of its messages %d", *s.ID, sum.total(), all)
	}
	copied = all - own
	if isCopy != (copied > 0) || isCopy && own != answerTokens {
		t.Errorf("%s: %d tokens, %d of them its own", *s.ID, all, own)
	}
	for _, sub := range c.list("-a", "--children", "--tokens") {
		if sub.ParentID == *s.ID {
			own, cost = own+sub.Tokens.Total, cost+*sub.Cost
		}
	}
	whole := c.status(*s.ID)
	if s.Tokens.Total != own || whole.Tokens.Total != own || !near(*s.Cost, cost) || !near(*whole.Cost, cost) {
		t.Errorf("%s: %d and %d tokens for %g, the agent says %d for %g", *s.ID, s.Tokens.Total, whole.Tokens.Total, *s.Cost, own, cost)
	}
	return copied
}
