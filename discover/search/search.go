// Package search finds sessions by what was said in them, without an index. Sessions are read newest first, on all
// processors. Bytes of storage are skipped, undecoded, only where no message in them can match: see [Pattern.MayMatch].
package search

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"

	"agentctl/discover"
)

// Query is what is searched for, and where.
type Query struct {
	Pattern *Pattern
	// Sessions selects the sessions.
	Sessions discover.SessionFilter
	// Role and Tool select the messages; "" for all.
	Role Role
	Tool string
	// MaxMatches is the most matching messages of a session that are kept, the newest ones; 0: all.
	MaxMatches int
	// Context is how many messages before and after a match are kept.
	Context int
	// Progress, if not nil, is told how many of the sessions have been searched.
	Progress func(searched, total int)
}

// Found is what the search of one session gave: matches, errors, or both.
type Found struct {
	discover.Session
	// Matches are the matching messages, the oldest first. There may be none.
	Matches []Match
	// Errors are [discover.Warning]s of what could not be read of the session.
	Errors []error
}

// Run searches the sessions, the newest first, and calls visit, from one goroutine, with each in which something matches or
// a part cannot be read, until visit returns false. warn gets the warnings of the scans. older is how many sessions were not
// searched because of Query.Sessions.Since. The error is as that of [discover.Scanner.List].
func Run(ctx context.Context, scanner *discover.Scanner, q Query, visit func(Found) bool, warn func([]*discover.Warning)) (older int, err error) {
	filter := discover.BatchFilter{SessionFilter: q.Sessions, Progress: q.Progress}
	if q.Pattern.words != nil {
		filter.MayMatch = q.Pattern.MayMatch
	}
	return scanner.ListBatches(ctx, filter, func(r discover.Result) bool {
		warn(r.Warnings)
		return q.searchBatch(ctx, scanner, r.Sessions, visit)
	})
}

// searchBatch searches sessions on all processors and visits them in their order. Few sessions wait to be visited, since what matches
// in one may take megabytes.
func (q *Query) searchBatch(ctx context.Context, scanner *discover.Scanner, sessions []discover.Session, visit func(Found) bool) (more bool) {
	ctx, cancel := context.WithCancel(ctx)
	next := make(chan int, len(sessions))
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(next)
	defer cancel()
	found := make([]chan Found, len(sessions))
	for i := range found {
		found[i] = make(chan Found, 1)
	}
	ahead := 4 * runtime.GOMAXPROCS(0)
	for i := range min(ahead, len(sessions)) {
		next <- i
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				found[i] <- q.searchSession(ctx, scanner, sessions[i])
			}
		})
	}
	for i, c := range found {
		f := <-c
		if ctx.Err() == nil && len(f.Matches)+len(f.Errors) > 0 && !visit(f) {
			return false
		}
		if i+ahead < len(sessions) {
			next <- i + ahead
		}
	}
	return ctx.Err() == nil
}

// maxKeptBytes is the size of a session's matches, with their context, after which no older ones are kept.
const maxKeptBytes = 16 << 20

var errTooManyMatches = errors.New("older matches are left out: there are more than 16 MB of them")

// searchSession searches the messages of one session, from the newest to the oldest.
func (q *Query) searchSession(ctx context.Context, scanner *discover.Scanner, s discover.Session) Found {
	found := Found{Session: s}
	c := collector{query: q}
	for m, err := range scanner.MessagesWithin(ctx, s, math.MaxInt) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			found.Errors = append(found.Errors, err)
			continue
		}
		if !c.add(m) {
			break
		}
	}
	if c.bytes > maxKeptBytes {
		found.Errors = append(found.Errors, &discover.Warning{Agent: s.Agent, Path: s.Path, Err: errTooManyMatches})
	}
	found.Matches = c.oldestFirst()
	return found
}
