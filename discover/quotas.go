package discover

import (
	"cmp"
	"context"
	"slices"
)

// StatedQuota is what a session's storage says of a limit.
type StatedQuota struct {
	Quota
	Agent          Agent
	Session, Model string
}

// ReadQuotas returns the newest word on each limit of the agents' providers, by agent and name. An agent that names no limit
// has one for each model. older is how many sessions were not read because of [UsageFilter.Since]. The error is that of the context;
// what could not be read is in the warnings.
func (scanner *Scanner) ReadQuotas(ctx context.Context, filter UsageFilter) (quotas []StatedQuota, older int, warnings []*Warning, err error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return nil, 0, scan.warnings, err
	}
	found, older := scan.listSince(ctx, filter.Since)
	scan.readRecords(ctx, found, ReadOptions{Quotas: true})
	var all []StatedQuota
	for _, r := range slices.Concat(scan.records...) {
		for _, q := range r.Quotas {
			all = append(all, StatedQuota{q, r.Agent, r.ID, r.Model})
		}
	}
	return newestOfEach(all), older, scan.warnings, ctx.Err()
}

// newestOfEach returns the newest statement on each limit, in order.
func newestOfEach(all []StatedQuota) []StatedQuota {
	sameLimit := func(a, b StatedQuota) int {
		byName := cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Name, b.Name))
		if byName == 0 && a.Name == "" {
			return cmp.Compare(a.Model, b.Model)
		}
		return byName
	}
	slices.SortFunc(all, func(a, b StatedQuota) int {
		return cmp.Or(sameLimit(a, b), b.Time.Compare(a.Time), cmp.Compare(a.Session, b.Session))
	})
	return slices.CompactFunc(all, func(a, b StatedQuota) bool { return sameLimit(a, b) == 0 })
}
