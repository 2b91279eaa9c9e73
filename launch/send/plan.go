package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// plan says to which processes a message for a session may be sent.
type plan struct {
	scanner *discover.Scanner
	host    launch.Environment
	sender  launch.Adapter
	// session is the session as it was read just before, with the processes that may be sent something.
	session discover.Session
}

// StoppedError says that no process runs the session.
type StoppedError struct{ Session discover.Session }

func (e *StoppedError) Error() string { return "it is stopped, and takes no messages" }

// UnclearError says that it is not sure which process runs the session.
type UnclearError struct {
	Session discover.Session
	// Processes are those that may run it.
	Processes []proc.ID
}

func (e *UnclearError) Error() string {
	if e.Session.ID == "" {
		return "its session is not known: the agent gives it an ID at its first prompt"
	}
	var names []string
	for _, id := range e.Processes {
		names = append(names, id.String())
	}
	if len(names) == 0 {
		return "it is not sure which process runs it"
	}
	return "it is not sure which process runs it: it may be " + strings.Join(names, ", or ")
}

// newPlan reads the chosen session again, since it may have ended or moved to another process.
func newPlan(ctx context.Context, scanner *discover.Scanner, chosen discover.Session, host launch.Environment) (*plan, error) {
	now, known := launch.Reread(ctx, scanner, chosen)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !known:
		return nil, unclear(now)
	case now.Status == discover.Stopped:
		return nil, &StoppedError{now}
	case now.ID == "":
		return nil, unclear(now)
	}
	p := &plan{scanner: scanner, host: host}
	var err error
	if p.session, err = recipients(scanner, now); err != nil {
		return nil, err
	}
	p.sender = launch.AdapterOf(scanner.Adapters, now.Agent)
	return p, p.sender.CheckSend(p.session, host)
}

// recipients returns the session with the processes that a message may be sent to. Weak evidence is not enough: a message to
// another session cannot be taken back.
func recipients(scanner *discover.Scanner, s discover.Session) (discover.Session, error) {
	if s.IsSubagent() {
		return s, &launch.UnsupportedError{Agent: s.Agent, What: fmt.Sprintf("gives a sub-agent's session no messages; send it to %s", s.Parent)}
	}
	s, err := launch.Reachable(scanner, s, "send")
	if err != nil {
		return s, err
	}
	sure := s
	sure.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool { return !isSure(s, p) })
	if len(sure.Processes) == 0 {
		return s, unclear(s)
	}
	return sure, nil
}

// isSure reports whether more than weak evidence ties the process to the session.
func isSure(s discover.Session, p proc.Process) bool {
	return slices.ContainsFunc(s.Evidence, func(e discover.Evidence) bool {
		return e.Accepted && e.Process == p.ID && e.Session == s.ID && e.Strength >= discover.Strong
	})
}

// unclear names the processes that may run the session.
func unclear(s discover.Session) error {
	var ids []proc.ID
	for _, e := range s.Evidence {
		now, err := proc.Inspect(e.Process.PID)
		if err == nil && now.ID == e.Process && now.Alive() && !slices.Contains(ids, e.Process) {
			ids = append(ids, e.Process)
		}
	}
	return &UnclearError{s, ids}
}

// RejectedError says that the agent has not accepted the message, or has not said so in time. It may have received it.
type RejectedError struct {
	Session discover.Session
	Err     error
}

func (e *RejectedError) Error() string {
	if errors.Is(e.Err, context.DeadlineExceeded) {
		return "the agent has not answered in time: whether it has the message is not known"
	}
	return fmt.Sprintf("the agent has not accepted the message: %v", e.Err)
}

func (e *RejectedError) Unwrap() error { return e.Err }
