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

// find returns a result that has the quiet sessions only, and their objects.
func (q quietFinder) find(ctx context.Context) (discover.Result, []object.Session, error) {
	q.filter.Statuses, q.filter.Outcomes, q.filter.Full = []discover.Status{discover.Running}, nil, true
	limit := q.filter.Limit
	q.filter.Limit = 0
	r, err := q.call.Scanner.List(ctx, q.filter)
	if err != nil {
		return r, nil, err
	}
	trees := ancestry.NewTrees(q.call.Scanner, r, r.Sessions)
	var found map[int]*quiet.Quiet
	if q.observer != nil {
		found = q.observer.Observe(q.call.Scanner, r, trees)
	} else {
		found = quiet.Find(ctx, q.call.Scanner, r, trees)
	}
	var kept []discover.Session
	var objects []object.Session
	for i, s := range r.Sessions {
		now := time.Now()
		if f := found[i]; f != nil && (q.longer == 0 || !f.IsExplained() && now.Sub(f.Since) >= q.longer) {
			obj := object.NewSession(s)
			obj.Quiet = object.NewQuiet(f, now)
			kept, objects = append(kept, s), append(objects, obj)
		}
	}
	r.Sessions = kept
	if limit > 0 {
		q.filter.Limit = limit
		objects = object.Merge(objects, q.filter)
	}
	return r, objects, ctx.Err()
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
	var reported []discover.Key
	for {
		r, objects, err := q.find(ctx)
		if err != nil {
			return err
		}
		var now []discover.Key
		for i, s := range r.Sessions {
			now = append(now, s.Key())
			if slices.Contains(reported, s.Key()) {
				continue
			}
			e := object.NewEvent(watch.Event{Type: watch.SessionQuiet, Time: time.Now().UTC(), Session: s})
			e.Session.Quiet = objects[i].Quiet
			if err := take(e); err != nil {
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
