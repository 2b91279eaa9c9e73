package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// stopSelection are the flags that choose sessions instead of IDs; a session must meet all of them.
type stopSelection struct {
	all                bool
	scope              scope
	idleFor, olderThan time.Duration
}

// selected are the live sessions of a scope, but for sub-agents' and those that the command runs inside of; stopped ones, too,
// where they are asked for.
func (c *call) selected(ctx context.Context, verb string, in scope, stopped bool) (discover.Result, error) {
	match, err := in.match(verb)
	if err != nil {
		return discover.Result{}, err
	}
	r, err := c.world.List(ctx, discover.SessionFilter{Agents: c.agents, IncludeStopped: stopped, Subagents: true})
	if err != nil {
		return r, err
	}
	around := c.around(r, c.nearest(r))
	r.Sessions = slices.DeleteFunc(slices.Clone(r.Sessions), func(s discover.Session) bool {
		return s.IsSubagent() || match != nil && !match(s) || around(s)
	})
	return r, nil
}

// nearest are the session that this command runs inside of; several where they share a process.
func (c *call) nearest(r discover.Result) []discover.Session {
	return c.world.EnclosingSessions(r, c.PID, c.Getenv)
}

// takes are the conditions on time. How long a session has been idle is told by its last activity, how old it is by its
// process: it may have been resumed.
func (o *stopSelection) takes(s discover.Session, now time.Time) bool {
	if o.idleFor > 0 && (s.Status != discover.Idle || now.Sub(s.LastActivity()) < o.idleFor) {
		return false
	}
	if o.olderThan == 0 {
		return true
	}
	began := s.Created
	if len(s.Processes) > 0 && !s.Processes[0].Started.IsZero() {
		began = s.Processes[0].Started
	}
	return !began.IsZero() && now.Sub(began) >= o.olderThan
}

// around tells the sessions that this command runs inside of: the nearest one, and those around that. Of a process with
// several sessions only the one that called is meant, where that can be told. A sub-agent counts as the session that it
// works for.
func (env Env) around(r discover.Result, nearest []discover.Session) func(discover.Session) bool {
	var families []discover.Session
	for _, s := range nearest {
		families = append(families, discover.RootSession(r.Sessions, s))
	}
	return func(s discover.Session) bool {
		beside := slices.ContainsFunc(nearest, func(n discover.Session) bool { return s.RunByAny(slices.Values(n.Processes)) })
		if s.ID == "" && beside {
			return true // the nearest one it is: a process without a name has no other
		}
		return includes(families, discover.RootSession(r.Sessions, s)) || !beside && s.RunByAny(r.Table.Ancestors(env.PID))
	}
}

// foreign reports whether the session is another user's, whose processes we may not signal.
func (env Env) foreign(r discover.Result, s discover.Session) bool {
	self, ok := r.Table.ByPID(env.PID)
	return ok && self.UID != 0 && len(s.Processes) > 0 && s.Processes[0].UID != self.UID
}

// includes reports whether a session is among those, by its name or by its process where it has none.
func includes(list []discover.Session, s discover.Session) bool {
	return slices.ContainsFunc(list, func(o discover.Session) bool {
		return o.Key() == s.Key() && (s.ID != "" || s.RunByAny(slices.Values(o.Processes)))
	})
}

// confirmed shows on the terminal what is to be ended, and asks; without a yes, it is a no.
func (env Env) confirmed(ctx context.Context, question string, show func(io.Writer) error) error {
	if err := show(env.Stderr); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(env.Stdin).ReadString('\n') // its end is a no
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case a := <-answer:
		if a != "y" && a != "yes" {
			return refusal("nothing was stopped")
		}
	}
	return nil
}
