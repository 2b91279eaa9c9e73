package claudecode

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// sessionUsage is what a session used: first by the recorded calls, which are calls in the same order, then what only the agent's reports
// have.
type sessionUsage struct {
	discover.SessionUsage
	calls []callID
}

// ReadUsage reads whole transcripts. What sub-agents used is that of their session; of one whose session is not among the
// entries, its own. A transcript that was copied to another folder counts once.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for u, err := range (reader{discover.ReadOptions{Tokens: true}, true}).read(ctx, withoutCounted(entries)) {
			if (err != nil || len(u.Usage) > 0) && !yield(&u.SessionUsage, err) {
				return
			}
		}
	}
}

// dropCopied sets what each session used. An answer that several of them have is that of the one that was last used when the others
// copied it: they went on after it.
func dropCopied(all []*sessionUsage) {
	slices.SortFunc(all, func(a, b *sessionUsage) int {
		return cmp.Or(a.Updated.Compare(b.Updated), a.Created.Compare(b.Created), cmp.Compare(a.Path, b.Path))
	})
	known := map[callID]bool{}
	for _, u := range all {
		own, used := false, u.Usage
		u.Usage = used[:0]
		for i := range used {
			// What only reports have is the session's if a recorded call is.
			recorded := i < len(u.calls)
			if recorded && known[u.calls[i]] || !recorded && !own {
				*u.Tokens = u.Tokens.Minus(used[i].Tokens)
				continue
			}
			if own = true; recorded {
				known[u.calls[i]] = true
			}
			u.Usage = append(u.Usage, used[i])
		}
	}
}

// withoutCounted returns the entries without the sub-agents whose tokens are counted with their session's.
func withoutCounted(entries []discover.Entry) []discover.Entry {
	sessions := map[string]bool{} // by the folder of their sub-agents
	for _, e := range entries {
		if !isSubagent(e.ID) {
			sessions[subagentDir(e.Path)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e discover.Entry) bool {
		return isSubagent(e.ID) && sessions[enclosingSubagentDir(e.Path)]
	})
}

// answers returns what was used when, and by which model: by each call, then what only the agent's reports have: tokens were used before
// Time, and a cost was reported then. A killed process reports nothing, and the next one continues from the last report; so of the calls before
// a report, their sum counts if it is larger than the report.
func (c *callUsage) answers() (calls []callID, all []discover.Usage) {
	calls, all = make([]callID, 0, len(c.calls)), make([]discover.Usage, 0, len(c.calls))
	for id, s := range c.calls {
		calls, all = append(calls, id), append(all, discover.Usage{Time: s.at, Model: s.model, Tokens: withTotal(s.Tokens)})
	}
	if len(c.reports) == 0 {
		return calls, all
	}
	newest := c.lastReport()
	var recorded discover.Tokens // by the calls before the newest report
	byModel := map[string]discover.Tokens{}
	for _, s := range c.calls {
		if c.isReported(s.at) {
			recorded = recorded.Plus(s.Tokens)
			byModel[s.model] = byModel[s.model].Plus(s.Tokens)
		}
	}
	// A process that was killed reports nothing, and the cost of its calls is not in any later report.
	costKnown := newest.complete && recorded.Max(newest.total) == newest.total
	for i := range all {
		all[i].CostKnown = costKnown && c.isReported(all[i].Time)
	}
	for model, used := range newest.unrecorded(recorded, byModel) {
		if used != (discover.Tokens{}) {
			all = append(all, discover.Usage{Time: newest.time(), Model: model, Tokens: withTotal(used), CostKnown: costKnown})
		}
	}
	return calls, append(all, c.costs()...)
}

// unrecorded returns the tokens that a report has besides the recorded calls before it: of each model, unless the report lacks some of
// a model's.
func (r *report) unrecorded(recorded discover.Tokens, byModel map[string]discover.Tokens) map[string]discover.Tokens {
	rest := map[string]discover.Tokens{"": recorded.Max(r.total).Minus(recorded)}
	ofModels, sum := map[string]discover.Tokens{}, discover.Tokens{}
	for model, m := range r.models {
		more := m.Minus(byModel[model])
		if more.Max(discover.Tokens{}) != more {
			return rest
		}
		ofModels[model] = more
		sum = sum.Plus(more)
	}
	if sum != rest[""] { // it lacks a model
		return rest
	}
	return ofModels
}

// costs returns what each report adds to the costs in the one before, at the time of the report. Of a report that states more than a
// later one, what the later one states counts: so their sum is the newest report's.
func (c *callUsage) costs() (out []discover.Usage) {
	stated := make([]map[string]float64, len(c.reports))
	for i, r := range slices.Backward(c.reports) {
		stated[i] = r.costs()
		for model, usd := range stated[i] {
			if i+1 < len(stated) {
				stated[i][model] = min(usd, stated[i+1][model])
			}
		}
	}
	var before map[string]float64
	for i, costs := range stated {
		for _, model := range slices.Sorted(maps.Keys(costs)) { // sums are the same each time
			if added := costs[model] - before[model]; added > 0 {
				out = append(out, discover.Usage{Time: c.reports[i].time(), Model: model, Cost: added, CostKnown: true})
			}
		}
		before = costs
	}
	return out
}

// costs returns the cost of each model, and of none what the report states besides; all of it if the models have more.
func (r *report) costs() map[string]float64 {
	const rounding = 1e-9 // USD
	costs, rest := map[string]float64{}, r.cost
	for _, model := range slices.Sorted(maps.Keys(r.models)) {
		costs[model] = r.models[model].cost
		rest -= costs[model]
	}
	switch {
	case rest < -rounding:
		return map[string]float64{"": r.cost}
	case rest > rounding:
		costs[""] += rest
	}
	return costs
}

// report is what the agent reports of a session when a process of it ends: the sum over all its processes so far.
type report struct {
	total    discover.Tokens
	models   map[string]modelReport
	cost     float64   // USD
	complete bool      // cost is that of all calls
	at       time.Time // the time of the newest call before it; zero if there is none
	resumed  time.Time // the time of the first record after it; zero if there is none
}

// modelReport is the part of a model.
type modelReport struct {
	discover.Tokens
	cost float64
}

// maxReports bounds the reports of one session that are kept. Of more, the newest replaces the one before it. maxModels bounds the
// models of a report, and maxCallID their names; what others have used is in the total only.
const (
	maxReports = 256
	maxModels  = 100
)

// addReport takes a total that the agent reports.
func (c *callUsage) addReport(o storage.Object) {
	r := report{at: c.newest, cost: o.Get("totalCostUSD").Float(), complete: !o.Get("hasUnknownModelCost").IsTrue(), models: map[string]modelReport{}}
	for name, value := range o.Get("modelUsage").Object().Members() {
		m := modelReport{usageOf(value.Object()), value.Object().Get("costUSD").Float()}
		r.total = r.total.Plus(m.Tokens)
		if len(r.models) < maxModels && len(name) <= maxCallID {
			r.models[string(name)] = m
		}
	}
	last := c.lastReport()
	if last != nil && last.total == r.total { // written anew
		r.at = last.at
	} else if last == nil || len(c.reports) < maxReports {
		c.reports = append(c.reports, r)
		return
	}
	*last = r
}

// lastReport returns the newest report; nil if there is none.
func (c *callUsage) lastReport() *report {
	if len(c.reports) == 0 {
		return nil
	}
	return &c.reports[len(c.reports)-1]
}

// time returns when the report was written, as far as the calls around it tell.
func (r *report) time() time.Time {
	if r.at.IsZero() {
		return r.resumed
	}
	return r.at
}

// recordTime takes the time of a record.
func (c *callUsage) recordTime(at storage.Value) {
	if last := c.lastReport(); last != nil && last.resumed.IsZero() {
		last.resumed = at.Time()
	}
}

// isReported reports whether the newest report was written after a call of this time.
func (c *callUsage) isReported(at time.Time) bool {
	last := c.lastReport()
	return last != nil && (last.resumed.IsZero() || at.Before(last.resumed))
}
