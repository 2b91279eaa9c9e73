package discover

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// BatchFilter selects what [Scanner.ListBatches] lists.
type BatchFilter struct {
	SessionFilter
	// MayMatch, if not nil, rules sessions out before their records are read: see [Adapter].
	MayMatch func(json []byte) bool
	// Progress, if not nil, is called before each batch and at the end: how many sessions the list is done with, of how many.
	Progress func(done, total int)
}

// Sizes of the batches in sessions. The first one is small, so that the first answer is early.
const (
	firstBatchSize = 32
	maxBatchSize   = 512
)

// ListBatches calls visit with the sessions that pass the filter, stopped ones included, some at a time: those whose storage
// has changed last come first. Each batch is a scan of its own, so that memory does not grow with the stores and each status
// is new. A visit that returns false ends the list. older is how many stored sessions were left out because of Since; batches have
// no limit. The error is as that of [Scanner.List].
func (scanner *Scanner) ListBatches(ctx context.Context, filter BatchFilter, visit func(Result) bool) (older int, err error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return 0, err
	}
	entries, older := scan.newestEntries(ctx, &filter)
	if !visit(Result{Warnings: scan.warnings}) {
		return older, ctx.Err()
	}
	total := len(entries)
	for size := firstBatchSize; len(entries) > 0 && ctx.Err() == nil; size = min(2*size, maxBatchSize) {
		filter.report(total-len(entries), total)
		n := min(size, len(entries))
		batch := scan.filterContent(ctx, entries[:n], filter.MayMatch)
		entries = entries[n:]
		if len(slices.Concat(batch...)) == 0 {
			continue
		}
		r, err := scanner.readBatch(ctx, scan.homes, batch, &filter.SessionFilter)
		if err != nil {
			return older, err
		}
		if !visit(r) {
			return older, ctx.Err()
		}
	}
	filter.report(total-len(entries), total)
	return older, ctx.Err()
}

func (f *BatchFilter) report(done, total int) {
	if f.Progress != nil {
		f.Progress(done, total)
	}
}

// newestEntries lists what is stored, newest first, and counts what is older than the filter asks for.
func (scan *Scan) newestEntries(ctx context.Context, filter *BatchFilter) (entries []Entry, older int) {
	found := scan.listEntries(ctx, scan.homes, func(Agent) EntryFilter { return EntryFilter{Subagents: filter.Subagents} })
	found = scan.dropCopies(ctx, found)
	entries, older = dropOlder(slices.Concat(found...), filter.Since)
	return sortByUpdated(entries), older
}

// filterContent returns those of the entries whose content may match, one list for each adapter.
func (scan *Scan) filterContent(ctx context.Context, entries []Entry, mayMatch func([]byte) bool) [][]Entry {
	byAgent := scan.splitByAgent(entries)
	if mayMatch == nil {
		return byAgent
	}
	var wg sync.WaitGroup
	for i, a := range scan.adapters {
		if len(byAgent[i]) > 0 {
			wg.Go(func() { byAgent[i] = a.FilterContent(scan.confine(ctx, a.Name()), byAgent[i], mayMatch) })
		}
	}
	wg.Wait()
	return byAgent
}

func (scanner *Scanner) readBatch(ctx context.Context, homes map[Agent][]Home, entries [][]Entry, filter *SessionFilter) (Result, error) {
	scan := scanner.newScan(filter.Agents)
	maps.Copy(scan.homes, homes)
	wanted := map[Key]bool{}
	for _, e := range slices.Concat(entries...) {
		wanted[e.key()] = true
	}
	scan.thorough = true
	scan.readRecords(ctx, entries, ReadOptions{})
	if _, err := scan.readProcesses(ctx); err != nil {
		return Result{}, err
	}
	scan.readClaims(ctx)
	scan.readClaimedRecords(ctx, ReadOptions{}, anyClaim)
	r := scan.Result()
	allFilter := *filter
	allFilter.IncludeStopped, allFilter.Limit = true, 0
	// A process may run another copy of a session than the one that was chosen by what is stored.
	runs := map[recordID]bool{}
	for _, s := range r.Sessions {
		if s.Copy && wanted[s.Key()] {
			runs[s.recordID()] = true
		}
	}
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool { return !wanted[s.Key()] && !runs[s.recordID()] })
	return allFilter.Apply(r), ctx.Err()
}
