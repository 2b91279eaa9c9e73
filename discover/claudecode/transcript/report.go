package transcript

import (
	"strconv"
	"time"

	"agentctl/discover/native/jsonl"
)

// report is what the agent reports of a session when a process of it ends: the sum over all its processes so far.
type report struct {
	total    Usage
	models   []modelReport // with keepAll
	cost     float64       // USD
	complete bool          // cost is that of all calls
	at       time.Time     // the time of the newest call before it; zero if there is none
	resumed  time.Time     // the time of the first record after it; zero if there is none
}

// modelReport is the part of a model.
type modelReport struct {
	name string
	Usage
	cost float64
}

// maxReports bounds the reports of one session that are kept. Of more, the newest replaces the one before it.
const maxReports = 256

// addReport takes a total that the agent reports.
func (g *callUsage) addReport(raw []byte) {
	o := jsonl.Object(raw)
	r := report{at: g.newest, cost: float(o.Get("totalCostUSD")), complete: !isTrue(o.Get("hasUnknownModelCost"))}
	for name, value := range o.Get("modelUsage").Object().Members() {
		used := usageOf(value.Object())
		r.total.add(used)
		if g.keepAll {
			r.models = append(r.models, modelReport{string(name), used, float(value.Object().Get("costUSD"))})
		}
	}
	last := len(g.reports) - 1
	switch {
	case last < 0 || g.keepAll && last+1 < maxReports && g.reports[last].total != r.total:
		g.reports = append(g.reports, r)
	default:
		if g.reports[last].total == r.total { // written anew
			r.at = g.reports[last].at
		}
		g.reports[last] = r
	}
}

// time returns when the report was written, as far as the calls around it tell.
func (r *report) time() time.Time {
	if r.at.IsZero() {
		return r.resumed
	}
	return r.at
}

// costs returns the cost of each model, and under "" what the report states besides; all of it if the models have more.
func (r *report) costs() map[string]float64 {
	const rounding = 1e-9 // USD
	costs, rest := map[string]float64{}, r.cost
	for _, m := range r.models {
		costs[m.name] += m.cost
		rest -= m.cost
	}
	switch {
	case rest < -rounding:
		return map[string]float64{"": r.cost}
	case rest > rounding:
		costs[""] += rest
	}
	return costs
}

// float parses a number; anything else is 0.
func float(v jsonl.Value) float64 {
	f, _ := strconv.ParseFloat(string(v.Raw()), 64)
	return f
}

// recordTime takes the time of a record.
func (g *callUsage) recordTime(at jsonl.Value) {
	if g.needsTime() {
		g.reports[len(g.reports)-1].resumed = at.Time()
	}
}

// needsTime reports whether the time of the next record matters.
func (g *callUsage) needsTime() bool {
	return len(g.reports) > 0 && g.reports[len(g.reports)-1].resumed.IsZero()
}

// reportAfter returns the index of the first report that was written after a call of this time; the number of the reports if
// there is none.
func (g *callUsage) reportAfter(at time.Time) int {
	for i := range g.reports {
		if resumed := g.reports[i].resumed; resumed.IsZero() || at.Before(resumed) {
			return i
		}
	}
	return len(g.reports)
}
