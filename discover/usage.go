package discover

import (
	"context"
	"slices"
	"time"
)

// Usage is what one answer of a model used, or what the agent states of several together.
type Usage struct {
	// Time is when the agent recorded it, UTC; zero if not known.
	Time time.Time
	// From is set where the agent states a total only: it was used at some time between From and Time.
	From time.Time
	// Model is the model that answered; "" if not known.
	Model string
	// Tokens are disjoint, whatever the agent's own way to count: In is without what was read from the cache and written to
	// it, Out is with the reasoning, and Total is the sum of In, CacheRead, CacheWrite and Out. Context and Window are 0.
	Tokens Tokens
	// Cost is the agent's own figure, in USD. CostKnown: the cost is in Cost, or in that of a later Usage of the session.
	Cost      float64
	CostKnown bool
}

// SessionUsage is what a session used: its record as [ReadOptions.Tokens] has it, and the single answers.
type SessionUsage struct {
	Record
	Usage []Usage
}

// UsageFilter selects what [Scanner.ReadUsage] reads.
type UsageFilter struct {
	// Agents: any of these; empty: all.
	Agents []Agent
	// Since leaves out what was used before; zero: nothing.
	Since time.Time
}

// UsageLeftOut is what [Scanner.ReadUsage] left out because of [UsageFilter.Since].
type UsageLeftOut struct {
	// Sessions have not changed since then. They were not read. Sub-agents are not counted where their names tell.
	Sessions int
	// Tokens were used earlier, by sessions that have changed since then.
	Tokens int64
}

// ReadUsage calls add with what each stored session used, live ones included, from one goroutine. A session that has used
// nothing since [UsageFilter.Since] is left out. The error is that of the context; what could not be read is in the warnings.
func (scanner *Scanner) ReadUsage(ctx context.Context, filter UsageFilter, add func(*SessionUsage)) (left UsageLeftOut, warnings []*Warning, err error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return left, scan.warnings, err
	}
	found, older := scan.listSince(ctx, filter.Since)
	left.Sessions = older
	for i, a := range scan.adapters {
		if len(found[i]) == 0 {
			continue
		}
		for u, err := range a.ReadUsage(scan.confine(ctx, a.Name()), found[i]) {
			if err != nil {
				scan.warn(a.Name(), err)
				continue
			}
			u.Usage = slices.DeleteFunc(u.Usage, func(a Usage) bool {
				earlier := a.Time.Before(filter.Since)
				if earlier {
					left.Tokens += a.Tokens.Total
				}
				return earlier
			})
			if len(u.Usage) > 0 {
				add(u)
			}
		}
	}
	return left, scan.warnings, ctx.Err()
}

// listSince lists what has changed since then, sub-agents included, and counts the sessions that have not.
func (scan *Scan) listSince(ctx context.Context, since time.Time) (found [][]Entry, older int) {
	found = scan.listEntries(ctx, scan.homes, func(Agent) EntryFilter { return EntryFilter{Subagents: true} })
	found = scan.dropCopies(ctx, found)
	for i := range found {
		var n int
		found[i], n = dropOlder(found[i], since)
		older += n
	}
	return found, older
}
