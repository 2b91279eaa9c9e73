package send

import (
	"context"
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/launch"
)

// execution is a message that the agent has accepted.
type execution struct {
	*plan
	// began is when the send began. Records have milliseconds.
	began time.Time
	sent  launch.SentMessage
}

// execute has the agent accept the message.
func (p *plan) execute(ctx context.Context, m launch.Message) (*execution, error) {
	x := &execution{plan: p, began: time.Now().Truncate(time.Millisecond)}
	var err error
	if x.sent, err = p.sender.Send(ctx, p.session, m.Text(), p.host); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		if _, unable := errors.AsType[*launch.UnsupportedError](err); unable {
			return nil, err
		}
		return nil, &RejectedError{p.session, err}
	}
	return x, nil
}

// verify follows the session until its transcript has the message, the session has ended, or ctx ends.
func (x *execution) verify(ctx context.Context) Result {
	result := Result{Delivery: Accepted, Session: x.session, Sent: x.sent}
	watcher := watch.NewWatcher(x.scanner, []discover.Session{x.session})
	defer watcher.Close()
	for {
		r, err := watcher.Next(ctx)
		if err != nil {
			x.readFinally(ctx, &result)
			return result
		}
		if x.update(ctx, &result, r.Sessions[0]) {
			return result
		}
	}
}

// readFinally reads the transcript once more, though ctx has ended: a message that came meanwhile is delivered.
func (x *execution) readFinally(ctx context.Context, result *Result) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReadTimeout)
	defer cancel()
	if now, known := launch.Reread(last, x.scanner, result.Session); known {
		x.update(last, result, now)
	}
}

// update reads the transcript of the session as it is now, and reports whether the delivery is final.
func (x *execution) update(ctx context.Context, result *Result, now discover.Session) (final bool) {
	found, err := x.find(ctx, now)
	if found.message != nil {
		if found.refusal, err = x.sender.Unread(ctx, now, x.sent); found.refusal != "" || err != nil {
			found.message = nil
		}
	}
	result.Session, result.Message, result.Refusal, result.Err = now, found.message, found.refusal, nil
	switch {
	case found.message != nil:
		result.Delivery = Delivered
		return true
	case err != nil:
		result.Delivery, result.Err = Unknown, err
	case found.dropped:
		result.Delivery = Dropped
		return true
	case now.Status == discover.Stopped:
		result.Delivery = Lost
	default:
		result.Delivery = Accepted
	}
	return now.Status == discover.Stopped
}

// finding is what a transcript has of a sent message.
type finding struct {
	message *discover.Message // nil if it is not there
	// refusal is what the agent says of it. dropped: the session will never get it.
	refusal string
	dropped bool
}

// find finds the message in the transcript of the session. The newest messages come first, but agents do not store them in the
// order of their times.
func (x *execution) find(ctx context.Context, s discover.Session) (found finding, err error) {
	if s.Path == "" {
		return found, nil // nothing is stored yet
	}
	oldest := x.began.Add(-disorder)
	n := 0
	for m, err := range x.scanner.Messages(ctx, s) {
		n++
		isNew := !m.Time.Before(x.began)
		switch {
		case err != nil:
			return found, err
		case n > maxMessages, !m.Time.IsZero() && m.Time.Before(oldest):
			return found, nil
		case (x.sent.ID != "" || isNew) && x.sender.IsSent(m, x.sent):
			return finding{message: &m}, nil
		case isNew && found.refusal == "":
			found.refusal, found.dropped = x.sender.Refusal(m, x.sent)
		}
	}
	return found, nil
}
