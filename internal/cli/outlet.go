package cli

import (
	"context"
	"fmt"
	"sync"

	"agentctl/discover/watch"
)

// outletSize is how many events an outlet keeps that are not delivered yet.
const outletSize = 1000

// delivery is an event on its way to an outlet, with its line of JSON.
type delivery struct {
	event watch.Event
	line  []byte
}

// outlet takes events and delivers them one after the other, in order, beside everything else: whoever gives it one never
// waits. Those that it has no room for are lost, which is said.
type outlet struct {
	env     Env
	flag    string // names it in messages
	deliver func(context.Context, delivery) error
	queue   chan delivery
	full    bool // the last one was lost
	lost    int
	cut     int // whose delivery was cut short
	worker  sync.WaitGroup
}

// newOutlet begins to deliver, until ctx ends.
func (env Env) newOutlet(ctx context.Context, flag string, deliver func(context.Context, delivery) error) *outlet {
	o := &outlet{env: env, flag: flag, deliver: deliver, queue: make(chan delivery, outletSize)}
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
					env.warning(fmt.Sprintf("%s: %s of %s: %v", flag, d.event.Type, idOf(d.event.Session), err))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return o
}

// offer takes an event, or loses it. It is for one goroutine.
func (o *outlet) offer(d delivery) {
	select {
	case o.queue <- d:
		o.full = false
	default:
		o.lost++
		if !o.full {
			o.full = true
			o.env.warning(fmt.Sprintf("%s does not keep up: %d events wait, more are lost", o.flag, outletSize))
		}
	}
}

// end returns once nothing is delivered any more, and says what was not; the outlet's context must have ended.
func (o *outlet) end() {
	o.worker.Wait()
	if n := o.lost + o.cut + len(o.queue); n > 0 {
		o.env.warning(fmt.Sprintf("%s: %d events were not delivered", o.flag, n))
	}
}
