package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// hostsSource returns the events of several machines, as one stream. It ends when all connections have.
func hostsSource(c *cmdutil.Call) (source, error) {
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, publish func([]eventObject) error) error {
		return cmdutil.EachHost(ctx, c.Factory, calls, func(host string, object output.Event) error {
			object.Session.Host = host
			e, err := parseEvent(object)
			if err != nil {
				return cmdutil.BadAnswer(err)
			}
			return publish([]eventObject{{e, object}})
		})
	}, nil
}

func parseEvent(object output.Event) (e watch.Event, err error) {
	if !slices.Contains(cmdutil.EventTypes(), object.Type) {
		return e, fmt.Errorf("no event of a session: type %q", object.Type)
	}
	e.Type = watch.EventType(object.Type)
	if e.Time, err = time.Parse(time.RFC3339, object.Time); err != nil {
		return e, fmt.Errorf("%q is not a time", object.Time)
	}
	e.Session, err = output.ParseSession(&object.Session)
	return e, err
}
