package discover

import (
	"context"
	"iter"
	"time"
)

// Usage is what one answer of a model used, or what the agent states of several together.
type Usage struct {
	// Time is when the agent recorded it, UTC; zero if not known.
	Time time.Time
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

// UsageReader is implemented by adapters that can tell when, and by which model, tokens were used.
type UsageReader interface {
	// ReadUsage yields what the sessions of these entries used, in any order. Each answer counts once: not again in a fork,
	// and that of a sub-agent either for itself or for the session that it works for. A SessionUsage is valid until the next.
	// Errors are [Warning]s; with one, the usage of the session that it is about may be missing.
	ReadUsage(context.Context, []Entry) iter.Seq2[*SessionUsage, error]
}

// UsageFilter selects what [Scanner.ReadUsage] reads.
type UsageFilter struct {
	// Agents: any of these; empty: all.
	Agents []Agent
	// Since leaves out what was used before; zero: nothing.
	Since time.Time
}

// ReadUsage calls add with what each stored session used, live ones included, from one goroutine. A session that has used
// nothing since [UsageFilter.Since] is left out. The error is that of the context; what could not be read is in the warnings.
func (scanner *Scanner) ReadUsage(ctx context.Context, filter UsageFilter, add func(*SessionUsage)) ([]*Warning, error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return scan.warnings, err
	}
	found := scan.listEntries(ctx, scan.homes, func(Agent) EntryFilter {
		return EntryFilter{Since: filter.Since, Subagents: true, WithoutTimes: filter.Since.IsZero()}
	})
	for i, a := range scan.adapters {
		reader, ok := a.(UsageReader)
		if !ok || len(found[i]) == 0 {
			continue
		}
		for u, err := range reader.ReadUsage(scan.confine(ctx, a.Name()), found[i]) {
			if err != nil {
				scan.warn(a.Name(), err)
				continue
			}
			if u.Usage = usedSince(u.Usage, filter.Since); len(u.Usage) > 0 {
				add(u)
			}
		}
	}
	return scan.warnings, ctx.Err()
}

// usedSince removes, in place, what was used before a time.
func usedSince(all []Usage, since time.Time) []Usage {
	kept := all[:0]
	for _, u := range all {
		if since.IsZero() || !u.Time.Before(since) {
			kept = append(kept, u)
		}
	}
	return kept
}
