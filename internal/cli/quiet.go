package cli

import (
	"context"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/discover/quiet"
	"agentctl/discover/watch"
	"agentctl/internal/object"
)

// quietFinder finds the quiet ones of the running sessions that pass a filter.
type quietFinder struct {
	call   *Call
	filter discover.SessionFilter
	// longer is the time for which they must have been quiet without an explanation; 0: any, explained or not.
	longer time.Duration
	// observer remembers what earlier looks have seen; nil if each look is the only one.
	observer *quiet.Observer
}

// find returns the quiet sessions.
func (q quietFinder) find(ctx context.Context) ([]object.Session, []*discover.Warning, error) {
	filter := q.filter
	filter.Statuses, filter.Outcomes, filter.Full, filter.Limit = []discover.Status{discover.Running}, nil, true, 0
	r, err := q.call.Scanner.List(ctx, filter)
	if err != nil {
		return nil, r.Warnings, err
	}
	trees := ancestry.NewTrees(q.call.Scanner, r, r.Sessions)
	var found map[int]*quiet.Quiet
	if q.observer != nil {
		found = q.observer.Observe(q.call.Scanner, r, trees)
	} else {
		found = quiet.Find(ctx, q.call.Scanner, r, trees)
	}
	var objects []object.Session
	for i, s := range r.Sessions {
		now := time.Now()
		if f := found[i]; f != nil && (q.longer == 0 || !f.IsExplained() && now.Sub(f.Since) >= q.longer) {
			obj := object.NewSession(s)
			obj.Quiet = object.NewQuiet(f, now)
			objects = append(objects, obj)
		}
	}
	return object.Merge(objects, q.filter), r.Warnings, ctx.Err()
}

// Intervals at which a command that follows sessions looks for quiet ones: a part of the time for which they are to be quiet, within
// limits. A look reads the processes of all running sessions.
const (
	leastQuietInterval = time.Second
	mostQuietInterval  = 30 * time.Second
	quietShare         = 4
	// usualQuiet is the time for --type session.quiet without --quiet-for.
	usualQuiet = 10 * time.Minute
)

// follow calls take with an event for each session that has become quiet, once until it moves again.
func (q quietFinder) follow(ctx context.Context, take func(object.Event) error) error {
	q.observer = new(quiet.Observer)
	tick := time.NewTicker(min(max(q.longer/quietShare, leastQuietInterval), mostQuietInterval))
	defer tick.Stop()
	var reported []rowKey
	for {
		sessions, _, err := q.find(ctx)
		if err != nil {
			return err
		}
		var now []rowKey
		for _, s := range sessions {
			key := rowKeyOf(&s)
			if now = append(now, key); slices.Contains(reported, key) {
				continue
			}
			if err := take(object.NewEvent(watch.SessionQuiet, time.Now(), s)); err != nil {
				return err
			}
		}
		reported = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
