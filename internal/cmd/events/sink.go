package events

import (
	"context"
	"fmt"
	"sync"

	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
)

// queueSize is how many events an outlet keeps that are not delivered yet.
const queueSize = 1000

// delivery is an event on its way to an outlet, with its line of JSON.
type delivery struct {
	event watch.Event
	line  []byte
}

// sink takes events and delivers them one after the other, in order, beside everything else: whoever gives it one never
// waits. Those that it has no room for are lost, which is said.
type sink struct {
	env     cmdutil.Factory
	flag    string // names it in messages
	deliver func(context.Context, delivery) error
	queue   chan delivery
	full    bool // the last one was lost
	lost    int
	cut     int // whose delivery was cut short
	worker  sync.WaitGroup
}

// newSink begins to deliver, until ctx ends.
func newSink(ctx context.Context, f cmdutil.Factory, flag string, deliver func(context.Context, delivery) error) *sink {
	o := &sink{env: f, flag: flag, deliver: deliver, queue: make(chan delivery, queueSize)}
	o.worker.Go(func() {
		for {
			select {
			case d := <-o.queue:
				err := o.deliver(ctx, d)
				if err != nil && ctx.Err() != nil {
					o.cut++
					return
				}
				if err != nil {
					f.Warn(fmt.Sprintf("%s: %s of %s: %v", flag, d.event.Type, cmdutil.SessionName(d.event.Session), err))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return o
}

// offer takes an event, or loses it. It is for one goroutine.
func (o *sink) offer(d delivery) {
	select {
	case o.queue <- d:
		o.full = false
	default:
		o.lost++
		if !o.full {
			o.full = true
			o.env.Warn(fmt.Sprintf("%s does not keep up: %d events wait, more are lost", o.flag, queueSize))
		}
	}
}

// end returns once nothing is delivered any more, and says what was not; the outlet's context must have ended.
func (o *sink) end() {
	o.worker.Wait()
	if n := o.lost + o.cut + len(o.queue); n > 0 {
		o.env.Warn(fmt.Sprintf("%s: %d events were not delivered", o.flag, n))
	}
}
