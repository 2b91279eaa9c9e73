// Package send gives live sessions messages, and reports what became of them. It knows no agent: the agent's adapter says by
// which channel a session takes messages ([launch.Sender]). Nothing is ever typed into a terminal.
//
// A call has three stages. The plan reads the session again, finds it by its identity, and refuses it, before anything is
// sent, if it is stopped, if it is not sure which process runs it, or if nothing may be sent to that process. The execution
// has the agent accept the message. The verification follows the session until its transcript has the message: only then is
// the message delivered.
package send

import (
	"context"
	"time"

	"agentctl/discover"
	"agentctl/launch"
)

// Options say how a message is sent.
type Options struct {
	// Timeout is how long it may take until the transcript has the message.
	Timeout time.Duration
	// Host is the environment in which an agent's own commands run.
	Host launch.Environment
}

// Delivery is what became of a message.
type Delivery string

// The deliveries.
const (
	// Delivered: the transcript of the session has it, and the model has got it or gets it in the turn in progress.
	Delivered Delivery = "delivered"
	// Accepted: the agent has accepted it, and has not delivered it yet.
	Accepted Delivery = "accepted"
	// Lost: the session has ended before it was delivered.
	Lost Delivery = "lost"
	// Dropped: the agent says that the session will never get it.
	Dropped Delivery = "dropped"
	// Unknown: whether the transcript has it could not be read.
	Unknown Delivery = "unknown"
)

// Result is what became of a message that an agent has accepted.
type Result struct {
	Delivery Delivery
	// Session is the session as it is now.
	Session discover.Session
	// Sent is what the agent has accepted.
	Sent launch.SentMessage
	// Message is the message as the transcript has it; nil unless Delivery is Delivered.
	Message *discover.Message
	// Refusal is what is known of a message that is not delivered: what the agent says of it, in its own words, or what its storage shows;
	// "" if nothing.
	Refusal string
	// Err is why Delivery is Unknown.
	Err error
}

// ToSession sends a message to a chosen session. An error says that it was not sent, or that the agent has not accepted it:
// a [*StoppedError], an [*UnclearError], a [*discover.UntrustedError], [launch.ErrUnreachable], a [*launch.UnsupportedError],
// a [*RejectedError], or ctx's. If ctx ends after the agent has accepted the message, the result says what is true then.
func ToSession(ctx context.Context, scanner *discover.Scanner, chosen discover.Session, m launch.Message, o Options) (Result, error) {
	p, err := newPlan(ctx, scanner, chosen, o.Host)
	if err != nil {
		return Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	x, err := p.execute(limited, m)
	if err != nil {
		return Result{}, err
	}
	return x.verify(limited), nil
}
