package discover

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"agentctl/discover/storage"
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
	found, older := scan.listSince(ctx, filter.Since, filter.Subagents)
	entries := sortByUpdated(slices.Concat(found...))
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

// filterContent returns those of the entries whose content may match, one list for each adapter.
func (scan *Scan) filterContent(ctx context.Context, entries []Entry, mayMatch func([]byte) bool) [][]Entry {
	byAgent := scan.splitByAgent(entries)
	if mayMatch == nil {
		return byAgent
	}
	return askAdapters(scan, func(i int, a Adapter) ([]Entry, error) {
		if len(byAgent[i]) == 0 {
			return nil, nil
		}
		return a.FilterContent(scan.confine(ctx, a.Name()), byAgent[i], mayMatch), nil
	})
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
	for _, r := range slices.Concat(scan.records...) { // a file may state another ID than its name does
		wanted[r.Key()] = true
	}
	if _, err := scan.readProcesses(ctx); err != nil {
		return Result{}, err
	}
	scan.readClaims(ctx)
	scan.readClaimedRecords(ctx, ReadOptions{}, anyClaim)
	scan.readClaimsOfStopped(ctx, ReadOptions{}, anyClaim)
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

// FileReader reads a session from its open file into a zero SessionUsage, and reports whether the file has one. The error is about what cannot
// be read: of the session, if there is one, else of the file.
type FileReader func(f *storage.File, e Entry, into *SessionUsage) (ok bool, err error)

// read is FileReader for [storage.ReadParallel]. A file that is gone has no session. The error is a [Warning].
func (read FileReader) read(ctx context.Context, e Entry, into *SessionUsage) (ok bool, err error) {
	f, err := storage.Open(ctx, e.Path)
	if err != nil {
		return false, NewWarning(e.Agent, e.Path, err)
	}
	defer f.Close()
	if ok, err = read(f, e, into); !ok {
		*into = SessionUsage{}
	}
	into.TruncateTexts()
	return ok, NewWarning(e.Agent, e.Path, err)
}

// ReadRecords yields the records of sessions that are a file each, as [Adapter].Read does.
func ReadRecords(ctx context.Context, entries []Entry, read FileReader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for u, err := range storage.ReadParallel(ctx, entries, read.read) {
			if err != nil && !yield(Record{}, err) || u.ID != "" && !yield(u.Record, nil) {
				return
			}
		}
	}
}

// ReadUsages yields those of the sessions that used something, as [Adapter].ReadUsage does.
func ReadUsages(ctx context.Context, entries []Entry, read FileReader) iter.Seq2[*SessionUsage, error] {
	return func(yield func(*SessionUsage, error) bool) {
		for u, err := range storage.ReadParallel(ctx, entries, read.read) {
			if err != nil && !yield(nil, err) || len(u.Usage) > 0 && !yield(u, nil) {
				return
			}
		}
	}
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

// ReadUsage calls add with what each stored session used, live ones included, one call at a time. A session that has used
// nothing since [UsageFilter.Since] is left out. The error is that of the context; what could not be read is in the warnings.
func (scanner *Scanner) ReadUsage(ctx context.Context, filter UsageFilter, add func(*SessionUsage)) (left UsageLeftOut, warnings []*Warning, err error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return left, scan.warnings, err
	}
	found, older := scan.listSince(ctx, filter.Since, true)
	left.Sessions = older
	var adding sync.Mutex
	take := func(u *SessionUsage) {
		adding.Lock()
		defer adding.Unlock()
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
	askAdapters(scan, func(i int, a Adapter) (none struct{}, err error) {
		if len(found[i]) == 0 {
			return none, nil
		}
		var errs []error
		for u, err := range a.ReadUsage(scan.confine(ctx, a.Name()), found[i]) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			take(u)
		}
		return none, errors.Join(errs...)
	})
	return left, scan.warnings, ctx.Err()
}

// listSince lists what has changed since then, and counts the sessions that have not.
func (scan *Scan) listSince(ctx context.Context, since time.Time, subagents bool) (found [][]Entry, older int) {
	found = scan.listEntries(ctx, scan.homes, EntryFilter{Subagents: subagents})
	found = scan.dropCopies(ctx, found)
	for i := range found {
		var n int
		found[i], n = dropOlder(found[i], since)
		older += n
	}
	return found, older
}

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
	found, older := scan.listSince(ctx, filter.Since, true)
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
