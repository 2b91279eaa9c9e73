package transcript

import (
	"agentctl/discover"
)

// Answer is what a call of the model used, or several that only the agent's reports have.
type Answer struct {
	CallID // of a recorded call
	discover.Usage
}

// Recorded reports whether the answer is a recorded call.
func (a *Answer) Recorded() bool { return a.CallID != CallID{} }

// Answers returns what was used when, and by which model. Their sum is that of [Totals.Tokens]. What only the agent's reports have has
// no CallID: tokens were used before Time, and a cost was reported then.
func (t *Totals) Answers() []Answer {
	if t.calls.overflow || len(t.calls.calls) == 0 {
		return nil
	}
	return t.calls.answers()
}

func (g *callUsage) answers() []Answer {
	all := make([]Answer, 0, len(g.calls))
	for id, s := range g.calls {
		all = append(all, Answer{id, discover.Usage{Time: s.at, Model: s.model, Tokens: s.answerTokens()}})
	}
	if len(g.reports) == 0 {
		return all
	}
	newest := g.lastReport()
	var recorded Usage // by the calls before the newest report
	byModel := map[string]Usage{}
	for _, s := range g.calls {
		if g.isReported(s.at) {
			recorded.add(s.Usage)
			sum := byModel[s.model]
			sum.add(s.Usage)
			byModel[s.model] = sum
		}
	}
	// A process that was killed reports nothing, and the cost of its calls is not in any later report.
	costKnown := newest.complete && recorded.max(newest.total) == newest.total
	for i := range all {
		all[i].CostKnown = costKnown && g.isReported(all[i].Time)
	}
	for model, used := range newest.unrecorded(recorded, byModel) {
		if used != (Usage{}) {
			all = append(all, Answer{Usage: discover.Usage{Time: newest.time(), Model: model, Tokens: used.answerTokens(), CostKnown: costKnown}})
		}
	}
	return append(all, g.costs()...)
}

// unrecorded returns the tokens that a report has besides the recorded calls before it: of each model, unless the report lacks some of
// a model's.
func (r *report) unrecorded(recorded Usage, byModel map[string]Usage) map[string]Usage {
	rest := map[string]Usage{"": recorded.max(r.total).minus(recorded)}
	ofModels, sum := map[string]Usage{}, Usage{}
	for model, m := range r.models {
		more := m.minus(byModel[model])
		if more.max(Usage{}) != more {
			return rest
		}
		ofModels[model] = more
		sum.add(more)
	}
	if sum != rest[""] { // it lacks a model
		return rest
	}
	return ofModels
}

// costs returns what each report adds to the costs in the ones before, at the time of the report: of each model, and of none what the
// report states besides.
func (g *callUsage) costs() (out []Answer) {
	const rounding = 1e-9 // USD
	before := map[string]float64{}
	for _, r := range g.reports {
		rest := r.cost
		add := func(model string, usd float64) {
			if added := usd - before[model]; added > rounding {
				before[model] = usd
				out = append(out, Answer{Usage: discover.Usage{Time: r.time(), Model: model, Cost: added, CostKnown: true}})
			}
		}
		for model, m := range r.models {
			add(model, m.cost)
			rest -= m.cost
		}
		add("", rest)
	}
	return out
}

// answerTokens converts u for a [discover.Usage].
func (u Usage) answerTokens() discover.Tokens {
	t := *u.Tokens()
	t.Context = 0
	return t
}
