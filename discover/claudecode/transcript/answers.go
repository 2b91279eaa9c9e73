package transcript

import (
	"agentctl/discover"
	"agentctl/discover/native/jsonl"
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
func (t *Totals) KeepAnswers() { t.calls.keepAll, t.calls.models = true, &jsonl.Interner{} }

// Answers returns what was used when, and by which model. Their sum is that of [Totals.Tokens]. The tokens of calls that are
// not recorded, and all costs, count at the time of the newest call before the agent reported them.
func (t *Totals) Answers() []Answer {
	if t.calls.overflow || len(t.calls.calls) == 0 {
		return nil
	}
	return t.calls.answers()
}

func (g *callUsage) answers() []Answer {
	all := make([]Answer, 0, len(g.calls))
	recorded := make([]map[string]Usage, len(g.reports)) // what the calls between a report and the one before it used, by model
	for i := range recorded {
		recorded[i] = map[string]Usage{}
	}
	costKnown := g.costComplete()
	for id, s := range g.calls {
		i := g.reportAfter(s.at)
		all = append(all, Answer{id, discover.Usage{Time: s.at, Model: s.model, Tokens: s.answerTokens(), CostKnown: costKnown && i < len(g.reports)}})
		if i < len(g.reports) {
			sum := recorded[i][s.model]
			sum.add(s.Usage)
			recorded[i][s.model] = sum
		}
	}
	return append(all, g.unrecorded(recorded)...)
}

// costComplete reports whether the cost in the newest report is that of all calls before it. A process that was killed reports
// nothing, and its calls are not in any later report.
func (g *callUsage) costComplete() bool {
	var before Usage
	for _, s := range g.calls {
		if g.reportAfter(s.at) < len(g.reports) {
			before.add(s.Usage)
		}
	}
	last := len(g.reports) - 1
	return last >= 0 && g.reports[last].complete && before.max(g.reports[last].total) == g.reports[last].total
}

// unrecorded returns what the reports have besides the recorded calls, and the costs.
func (g *callUsage) unrecorded(recorded []map[string]Usage) (out []Answer) {
	if len(g.reports) == 0 {
		return nil
	}
	newest := g.reports[len(g.reports)-1]
	var before, given Usage       // by the recorded calls, and besides them, up to a report
	calls := map[string]Usage{}   // before, by model
	models := map[string]Usage{}  // given, by model
	costs := map[string]float64{} // given, by model
	cost := 0.0                   // given
	all := sumOf(recorded...)     // by the recorded calls before the newest report
	final := all.max(newest.total).minus(all)
	for i, r := range g.reports {
		for name, used := range recorded[i] {
			before.add(used)
			sum := calls[name]
			sum.add(used)
			calls[name] = sum
		}
		rest := given.max(r.total.minus(before)).min(final).minus(given)
		restCost := min(max(cost, r.cost), newest.cost) - cost
		if i == len(g.reports)-1 {
			rest, restCost = final.minus(given), newest.cost-cost
		}
		given.add(rest)
		cost += restCost
		at := r.at
		if at.IsZero() {
			at = r.resumed
		}
		add := func(model string, used Usage, usd float64) {
			if used != (Usage{}) || usd > 0 {
				out = append(out, Answer{Usage: discover.Usage{Time: at, Model: model, Tokens: used.answerTokens(), Cost: usd, CostKnown: true}})
			}
		}
		for _, m := range r.models {
			had := models[m.name]
			expected := calls[m.name]
			expected.add(had)
			part := m.minus(expected).max(Usage{}).min(rest)
			usd := min(max(m.cost-costs[m.name], 0), restCost)
			add(m.name, part, usd)
			rest, restCost = rest.minus(part), restCost-usd
			had.add(part)
			models[m.name], costs[m.name] = had, costs[m.name]+usd
		}
		const dust = 1e-9 // USD, of rounding
		if restCost < dust {
			restCost = 0
		}
		add("", rest, restCost)
	}
	return out
}

func sumOf(maps ...map[string]Usage) (sum Usage) {
	for _, m := range maps {
		for _, u := range m {
			sum.add(u)
		}
	}
	return sum
}

// answerTokens converts u for a [discover.Usage].
func (u Usage) answerTokens() discover.Tokens {
	t := *u.Tokens()
	t.Context = 0
	return t
}
