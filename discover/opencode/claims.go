package opencode

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
	"agentctl/proc"
)

// Claims returns what the live processes show: each one's presence, and the sessions that evidence ties to it.
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	s := newEvidence(ctx, table, homes)
	s.readLogs()
	s.readStdout()
	s.load(ctx)
	var out []discover.Claim
	for _, sub := range s.processes {
		lib := s.homes[sub.home]
		if lib == nil {
			lib = newHomeSessions(sub.home)
			lib.failed = true
		}
		out = append(out, s.claims(sub, lib)...)
	}
	return out, s.err()
}

// claims are those of one process. Meta: run (its name in the log), ports (TCP ports it listens on), command (how it
// was started, where it is a server).
func (s *evidence) claims(sub *loggedProcess, lib *homeSessions) []discover.Claim {
	base := discover.Claim{
		Agent: agentName, Process: sub.ID, Home: sub.home, Source: sub.mode.source(),
		Shared: sub.mode == modeServer, Meta: discover.Facts{{"run", sub.run}}.WithoutEmpty(),
	}
	if ports, err := sub.ListenPorts(); err == nil && len(ports) > 0 {
		base.Meta = base.Meta.With("ports", ports)
	}
	if sub.mode == modeServer {
		base.Meta = base.Meta.With("command", sub.name)
	}
	if sub.v2Service {
		return []discover.Claim{v2ServiceClaim(base)}
	}
	sessions := s.exactClaims(sub, lib, base)
	if len(sessions) == 0 && sub.mode != modeServer {
		sessions = s.inferredClaims(sub, lib, base)
	}
	asked := len(sub.sessions) > 0 || !sub.hasLog && len(sessions) > 0
	if late := s.unloggedClaims(sub, lib, base, sessions); len(late) > 0 {
		sessions, asked = append(sessions, late...), true
	}
	presence := base
	presence.Strength, presence.Kind, presence.Dir = discover.Exact, "process", sub.dir
	presence.Detail = "runs " + proc.ProgramName(sub.Exe) + ", as " + sub.mode.source()
	presence.HideIfUnlinked, presence.Unreadable = sub.mode == modeServer, sub.unreadable
	switch {
	case sub.mode == modeTUI && sub.unreadable == "" && len(lib.homes) > 0 && !asked:
		presence.Turn = &discover.Turn{State: discover.TurnNone} // it may show a session, and was asked nothing
	case sub.mode == modeRun: // it ends with its turn, and has one from the start
		presence.Turn = &discover.Turn{State: discover.TurnOpen}
	}
	return append([]discover.Claim{presence}, sessions...)
}

// exactClaims are the claims by the log, or by the command line of a headless process.
func (s *evidence) exactClaims(sub *loggedProcess, lib *homeSessions, base discover.Claim) []discover.Claim {
	var out []discover.Claim
	for _, id := range slices.Sorted(maps.Keys(sub.sessions)) {
		c := base
		c.Strength, c.Kind, c.Detail = discover.Exact, sub.logKind, sub.logDetail
		out = s.addClaim(out, c, sub, lib, id)
	}
	if sub.logKind == "output" {
		out = s.addSubAgents(out, sub, lib)
	}
	if len(out) == 0 && sub.mode == modeRun && sub.session != "" {
		c := base
		c.Strength, c.Kind, c.Detail = discover.Exact, "argv", "-s "+sub.session
		out = s.addClaim(out, c, sub, lib, sub.session)
		out = s.addSubAgents(out, sub, lib)
	}
	return out
}

// addClaim completes a claim for a session and adds it. One that is gone from a store that could be read was deleted. A store
// behind a process's own root is not ours to read, and a session in it is not the one by that ID that we have.
func (s *evidence) addClaim(out []discover.Claim, c discover.Claim, sub *loggedProcess, lib *homeSessions, id string) []discover.Claim {
	st := lib.sessions[id]
	if st == nil && (!lib.failed && !sub.foreign || sub.foreign && s.isStored(id)) {
		return out
	}
	c.Session = id
	if st == nil {
		c.Dir = sub.dir
		return append(out, c)
	}
	c.Path = st.Path
	if turn := s.observedTurn(sub, lib, st, maxDepth); turn.State != st.Turn.State || turn.Detail != st.Turn.Detail {
		c.Turn = &turn
	}
	return append(out, c)
}

// isStored reports whether a home of ours has a session by this ID.
func (s *evidence) isStored(id string) bool {
	for _, lib := range s.homes {
		if lib.sessions[id] != nil {
			return true
		}
	}
	return false
}

// observedTurn is what the process shows of a session's turn, over what the store says. Of one that another process has left, older
// than itself, it shows nothing.
func (s *evidence) observedTurn(sub *loggedProcess, lib *homeSessions, st *session, depth int) discover.Turn {
	turn := st.Turn
	left := !turn.Began.IsZero() && !sub.StartedBefore(turn.Began)
	if left || turn.State != discover.TurnOpen && turn.State != discover.TurnWaiting {
		return turn
	}
	if m := sub.sessions[st.ID]; st.tail.Last != nil {
		switch current := m.at.After(st.lastCreated()); {
		case current && m.ended:
			return discover.Turn{State: discover.TurnDone, Detail: "the log says that the turn ended", Began: turn.Began}
		case current && m.retryError != "":
			turn.Detail = "retrying: " + m.retryError
		case m.ended && m.at.Before(turn.Began) && s.now.Sub(turn.Began) > maxLogDelay && s.isOnlyCandidate(sub, st.ID):
			return discover.Turn{State: discover.TurnInterrupted, Began: turn.Began} // the log would say that it began
		}
	}
	for _, p := range st.tail.RunningTools() {
		if s.waitsForPermission(sub, st, p) {
			return discover.Turn{
				State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: p.WaitingOn(), Detail: "tool: " + p.Tool, Began: turn.Began,
			}
		}
		child := lib.sessions[p.Child]
		if child == nil || depth == 0 {
			continue
		}
		if t := s.observedTurn(sub, lib, child, depth-1); t.State == discover.TurnWaiting {
			t.Began = turn.Began
			return t
		}
	}
	return turn
}

// waitsForPermission reports whether a tool call waits for permission. A headless run refuses by itself what it would have to ask for. A
// process that logs its requests has logged one for the call; of others the call's silence is all that there is.
func (s *evidence) waitsForPermission(sub *loggedProcess, st *session, p transcript.Part) bool {
	if sub.mode == modeRun {
		return false
	}
	if list, ok := sub.history.requests[sub.run]; ok {
		asked := slices.ContainsFunc(list, func(r permissionRequest) bool { return r.matches(p) })
		return asked && (p.Silent() && p.ReportsAtOnce() || p.SilentTooLong(s.now)) && !s.toolRuns(sub, st, p)
	}
	return p.SilentTooLong(s.now) && !s.toolRuns(sub, st, p)
}

// isOnlyCandidate reports whether no other process can have asked for the newest turn of a session that the log names.
func (s *evidence) isOnlyCandidate(sub *loggedProcess, id string) bool {
	return !slices.ContainsFunc(s.processes, func(o *loggedProcess) bool {
		_, named := o.sessions[id]
		return o != sub && o.home == sub.home && (named || o.session == id || o.needsInference())
	})
}

// addSubAgents adds the sub-agents of the sessions claimed: they run in the same process. Only those begun in its
// lifetime, since earlier ones were another process's.
func (s *evidence) addSubAgents(out []discover.Claim, sub *loggedProcess, lib *homeSessions) []discover.Claim {
	for i := 0; i < len(out); i++ {
		for _, id := range slices.Sorted(maps.Keys(lib.sessions)) {
			child := lib.sessions[id]
			if child.Parent != out[i].Session || !sub.StartedBefore(child.Created) || isClaimed(out, id) {
				continue
			}
			c := out[i]
			c.Turn, c.Kind, c.Detail = nil, "parent", fmt.Sprintf("sub-agent of %s", out[i].Session)
			out = s.addClaim(out, c, sub, lib, id)
		}
	}
	return out
}

func isClaimed(claims []discover.Claim, id string) bool {
	return slices.ContainsFunc(claims, func(c discover.Claim) bool { return c.Session == id })
}
