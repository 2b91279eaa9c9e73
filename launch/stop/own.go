package stop

import (
	"context"
	"time"

	"agentctl/discover"
)

const (
	// glance and stare are the shortest and the longest time between two looks at a session that was asked to end.
	glance = 50 * time.Millisecond
	stare  = 500 * time.Millisecond
)

// ask asks the agent in its own way, and waits until the session is over or the time is. A session without a name
// cannot be spoken of.
func (t *target) ask(ctx context.Context) (err error) {
	if t.session.ID == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	if t.asked, err = t.stopper.End(limited, t.session, t.Host); err != nil || !t.asked {
		return err
	}
	for {
		began := time.Now()
		if t.over = t.ended(limited); t.over || limited.Err() != nil {
			return nil
		}
		// A busy machine makes a look slow: looking must not make it busier.
		pause := time.NewTimer(min(max(3*time.Since(began), glance), stare))
		select {
		case <-limited.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// ended reports whether there is no more to wait for: the process goes on only where it is not the session's alone.
func (t *target) ended(ctx context.Context) bool {
	now, ok := t.look(ctx)
	return ok && (now.Status == discover.Stopped || now.Status == discover.Idle && t.session.Shared)
}
