package launch

import (
	"cmp"
	"context"
	"slices"

	"agentctl/discover"
)

// ownSessions returns the rows, with and without an ID, of what was started.
func (v *Verification) ownSessions(r discover.Result) []discover.Session {
	return slices.DeleteFunc(r.Sessions, func(s discover.Session) bool {
		for _, p := range s.Processes {
			if v.execution.isDescendant(r.Table, p) {
				return false
			}
		}
		return true
	})
}

// provenSession returns the session among the rows of what was started: the one whose ID was known before, or that the agent's
// output or exact evidence names. If there is none, a record of a new session with the ID that was chosen for it, or that the
// agent has printed, is proof: no other process knows the ID, and some agents leave no better proof.
func (v *Verification) provenSession(ctx context.Context, own []discover.Session) (discover.Session, bool) {
	chosen, said := v.plan.Spec.ID, ""
	if chosen == "" {
		said = v.plan.Agent.ParseOutput(v.execution.readOutput()).ID
	}
	id := cmp.Or(chosen, said)
	var found []discover.Session
	for _, s := range own {
		// A command line with the ID that we chose is no proof: the agent may not have taken it.
		proven := s.HasExactEvidence() || said != "" || chosen != "" && s.Path != ""
		if s.ID != "" && s.ID == cmp.Or(id, s.ID) && proven {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	if v.plan.Spec.Resumed {
		return discover.Session{}, false
	}
	s, ok := v.findByID(ctx, id)
	return s, ok && s.Path != ""
}

// findByID finds a session of the agent that is stored or live.
func (v *Verification) findByID(ctx context.Context, id string) (discover.Session, bool) {
	if id == "" {
		return discover.Session{}, false
	}
	r, err := v.plan.Scanner.Find(ctx, id, []discover.Agent{v.plan.Agent.Name()}, discover.ReadOptions{TurnStart: true})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].ID != id {
		return discover.Session{}, false
	}
	return r.Sessions[0], true
}

// turnStored reports whether the storage has the turn that the agent was started for, with its prompt.
func (v *Verification) turnStored(ctx context.Context, s discover.Session) bool {
	if s.Path == "" || s.Turn.State == discover.TurnNone {
		return false
	}
	if !v.plan.Spec.Resumed {
		return s.Turn.State != discover.TurnUnknown
	}
	// The state of the turn may stay unknown: old versions record neither its start nor its end.
	v.prompted = v.prompted || v.promptStored(ctx, s) || s.Turn.Ended() && !s.Turn.Began.Before(v.execution.StartTime)
	return v.prompted
}

// promptStored reports whether the storage has a message of the user that is newer than the start. The time at which a turn
// began is no proof: Codex stores it before the prompt, and what Claude Code stores first may be no message.
func (v *Verification) promptStored(ctx context.Context, s discover.Session) bool {
	const most = 100 // messages of the new turn that may be stored by now
	n := 0
	for m, err := range v.plan.Scanner.Messages(ctx, s) {
		if n++; n > most || err != nil {
			return false
		}
		if m.Role == discover.RoleUser && m.Kind == discover.KindText && !m.Time.Before(v.execution.StartTime) {
			return true
		}
	}
	return false
}
