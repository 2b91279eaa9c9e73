package transcript

import (
	"slices"
	"time"

	"agentctl/discover"
)

// Answer is what a call of the model used, or several that only the agent's reports have.
type Answer struct {
	CallID // of a recorded call
	discover.Usage
}

// Recorded reports whether the answer is a recorded call.
func (a *Answer) Recorded() bool { return a.CallID != CallID{} }

// KeepAnswers has [Totals.Answers] return what was used when, and by which model. It is to be called before the transcript is
// read.
func (t *Totals) KeepAnswers() { t.calls.keepAll = true }

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
	newest := g.reports[len(g.reports)-1]
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

// isReported reports whether the newest report was written after a call of this time.
func (g *callUsage) isReported(at time.Time) bool { return g.reportAfter(at) < len(g.reports) }

// unrecorded returns the tokens that a report has besides the recorded calls before it: of each model, unless the report lacks some of
// a model's.
func (r *report) unrecorded(recorded Usage, byModel map[string]Usage) map[string]Usage {
	rest := map[string]Usage{"": recorded.max(r.total).minus(recorded)}
	ofModels, sum := map[string]Usage{}, Usage{}
	for _, m := range r.models {
		more := m.minus(byModel[m.name])
		if more.min(Usage{}) != (Usage{}) {
			return rest
		}
		ofModels[m.name] = more
		sum.add(more)
	}
	if sum != rest[""] { // it lacks a model
		return rest
	}
	return ofModels
}

// costs returns what each report adds to the costs in the one before, at the time of the report. Of a report that states more than
// a later one, what the later one states counts.
func (g *callUsage) costs() (out []Answer) {
	stated := make([]map[string]float64, len(g.reports))
	for i, r := range slices.Backward(g.reports) {
		stated[i] = r.costs()
		for model, usd := range stated[i] {
			if i+1 < len(stated) {
				stated[i][model] = min(usd, stated[i+1][model])
			}
		}
	}
	var before map[string]float64
	for i, costs := range stated {
		for model, usd := range costs {
			if added := usd - before[model]; added > 0 {
				out = append(out, Answer{Usage: discover.Usage{Time: g.reports[i].time(), Model: model, Cost: added, CostKnown: true}})
			}
		}
		before = costs
	}
	return out
}

// answerTokens converts u for a [discover.Usage].
func (u Usage) answerTokens() discover.Tokens {
	t := *u.Tokens()
	t.Context = 0
	return t
}
