package transcript

import (
	"strconv"
	"time"

	"agentctl/discover/native/jsonl"
)

// report is what the agent reports of a session when a process of it ends: the sum over all its processes so far.
type report struct {
	total    Usage
	models   map[string]modelReport
	cost     float64   // USD
	complete bool      // cost is that of all calls
	at       time.Time // the time of the newest call before it; zero if there is none
	resumed  time.Time // the time of the first record after it; zero if there is none
}

// modelReport is the part of a model.
type modelReport struct {
	Usage
	cost float64
}

// maxReports bounds the reports of one session that are kept. Of more, the newest replaces the one before it.
const maxReports = 256

// addReport takes a total that the agent reports.
func (g *callUsage) addReport(raw []byte) {
	o := jsonl.Object(raw)
	r := report{at: g.newest, cost: float(o.Get("totalCostUSD")), complete: !isTrue(o.Get("hasUnknownModelCost")), models: map[string]modelReport{}}
	for name, value := range o.Get("modelUsage").Object().Members() {
		m := modelReport{usageOf(value.Object()), float(value.Object().Get("costUSD"))}
		r.total.add(m.Usage)
		r.models[string(name)] = m
	}
	last := g.lastReport()
	if last != nil && last.total == r.total { // written anew
		r.at = last.at
	} else if last == nil || len(g.reports) < maxReports {
		g.reports = append(g.reports, r)
		return
	}
	*last = r
}

// lastReport returns the newest report; nil if there is none.
func (g *callUsage) lastReport() *report {
	if len(g.reports) == 0 {
		return nil
	}
	return &g.reports[len(g.reports)-1]
}

// time returns when the report was written, as far as the calls around it tell.
func (r *report) time() time.Time {
	if r.at.IsZero() {
		return r.resumed
	}
	return r.at
}

// float parses a number; anything else is 0.
func float(v jsonl.Value) float64 {
	f, _ := strconv.ParseFloat(string(v.Raw()), 64)
	return f
}

// recordTime takes the time of a record.
func (g *callUsage) recordTime(at jsonl.Value) {
	if g.needsTime() {
		g.lastReport().resumed = at.Time()
	}
}

// needsTime reports whether the time of the next record matters.
func (g *callUsage) needsTime() bool {
	last := g.lastReport()
	return last != nil && last.resumed.IsZero()
}

// isReported reports whether the newest report was written after a call of this time.
func (g *callUsage) isReported(at time.Time) bool {
	last := g.lastReport()
	return last != nil && (last.resumed.IsZero() || at.Before(last.resumed))
}
