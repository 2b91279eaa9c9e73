package stop

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

const (
	// glance and stare are the shortest and the longest time between two looks at a session that was asked to end.
	glance = 50 * time.Millisecond
	stare  = 500 * time.Millisecond
)

// ask asks the agent to end the session by its own command or request, and waits until the session is over or the timeout expires.
// It does nothing for an unidentified session, which no request can name.
func (t *target) ask(ctx context.Context) (err error) {
	if t.session.ID == "" || !t.stopper.NeedsInterrupt(t.session) {
		return nil
	}
	s, err := t.addressee()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	if t.asked, err = t.stopper.Interrupt(limited, s, t.Host); err != nil || !t.asked {
		return err
	}
	t.over = t.poll(limited, func(now discover.Session, known bool) bool {
		return known && (now.Status == discover.Stopped || now.Status == discover.Idle && t.session.Shared)
	})
	return nil
}

// poll reads the session's status until done accepts it, or ctx ends. It reports whether done has accepted it.
func (t *target) poll(ctx context.Context, done func(now discover.Session, known bool) bool) bool {
	for {
		began := time.Now()
		if done(t.look(ctx)) {
			return true
		}
		// On a busy machine reading takes long, and polling must not make it busier.
		pause := time.NewTimer(min(max(3*time.Since(began), glance), stare))
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
		}
	}
}

// addressee is the session with those of its processes that may be sent something. No command, request or password goes to
// what is not ours: a session of a home that nobody of ours names, another user's process, or one in another namespace,
// whose ports and paths are others here. Errors: [*discover.UntrustedError], [errOutOfReach].
func (t *target) addressee() (discover.Session, error) {
	s := t.session
	if err := s.CheckTrust("stop"); err != nil {
		return s, err
	}
	s.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool { return !t.world.Reachable(p) })
	if len(s.Processes) == 0 {
		return s, errOutOfReach
	}
	return s, nil
}

// errOutOfReach: nothing is sent to a process that is another user's or in another namespace.
var errOutOfReach = errors.New("its process belongs to another user or is in another namespace, and is not asked")
