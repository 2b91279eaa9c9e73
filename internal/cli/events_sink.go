package cli

import (
	"context"
	"fmt"
	"sync"

	"agentctl/internal/object"
)

// queueSize bounds the events that wait for delivery.
const queueSize = 1000

// delivery is an event with its line of JSON.
type delivery struct {
	event object.Event
	line  []byte
}

// sink delivers events one after the other, in order, in a goroutine of its own, so that the caller never waits. Events
// that the queue has no room for are lost, with a warning.
type sink struct {
	factory Factory
	flag    string // names it in messages
	deliver func(context.Context, delivery) error
	queue   chan delivery
	full    bool // the last one was lost
	lost    int
	cut     int // whose delivery was cut short
	worker  sync.WaitGroup
}

// newSink makes a sink that delivers until ctx ends.
func newSink(ctx context.Context, f Factory, flag string, deliver func(context.Context, delivery) error) *sink {
	o := &sink{factory: f, flag: flag, deliver: deliver, queue: make(chan delivery, queueSize)}
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
					f.Warn(fmt.Sprintf("%s: %s of %s: %v", flag, d.event.Type, d.event.Session.Name(), err))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return o
}

// offer queues an event, or loses it. It must be called by one goroutine only.
func (o *sink) offer(d delivery) {
	select {
	case o.queue <- d:
		o.full = false
	default:
		o.lost++
		if !o.full {
			o.full = true
			o.factory.Warn(fmt.Sprintf("%s does not keep up: %d events wait, more are lost", o.flag, queueSize))
		}
	}
}

// end returns once nothing is delivered any more, and reports the events that were not; the sink's context must have
// ended.
func (o *sink) end() {
	o.worker.Wait()
	if n := o.lost + o.cut + len(o.queue); n > 0 {
		o.factory.Warn(fmt.Sprintf("%s: %d events were not delivered", o.flag, n))
	}
}
