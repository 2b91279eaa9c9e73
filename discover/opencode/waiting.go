package opencode

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// maxDepth is how deep sub-agents of sub-agents are followed.
const maxDepth = 4

// liveTurn returns the stored turn of a session, corrected by what its process shows. If the turn is older than the process, it was another
// process's, and this one shows nothing of it.
func (scan *processScan) liveTurn(p *loggedProcess, s *session, depth int) discover.Turn {
	turn := s.Turn
	isOlder := !turn.Began.IsZero() && !p.StartedBefore(turn.Began)
	if isOlder || turn.State != discover.TurnOpen && turn.State != discover.TurnWaiting {
		return turn
	}
	if last := p.sessions[s.ID]; s.tail.Last != nil {
		switch isCurrent := last.at.After(fromMillis(s.tail.Last.Created)); {
		case isCurrent && last.ended:
			return discover.Turn{State: discover.TurnDone, Detail: "the log says that the turn ended", Began: turn.Began}
		case isCurrent && last.retryError != "":
			turn.Detail = "retrying: " + last.retryError
		}
	}
	tools := s.tail.RunningTools()
	if answer := s.tail.OpenAnswer; answer != nil && p.StartedBefore(fromMillis(answer.Last.Created)) {
		turn, tools = answer.Turn(), answer.RunningTools()
		turn.Began = fromMillis(answer.Last.Created) // the messages since then do not end it
	}
	for _, call := range tools {
		if scan.waitsForPermission(p, s, call) {
			return discover.Turn{
				State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: call.WaitingOn(), Detail: "tool: " + call.Tool, Began: turn.Began,
			}
		}
		child := p.stored.sessions[call.Child]
		if child == nil || depth == 0 {
			continue
		}
		if t := scan.liveTurn(p, child, depth-1); t.State == discover.TurnWaiting {
			t.Began = turn.Began
			return t
		}
	}
	return turn
}

// waitsForPermission reports whether a tool call waits for permission. A headless run does not ask: it denies. A process that logs its
// requests must have logged one for the call. For other processes, only the silence of the call shows it.
func (scan *processScan) waitsForPermission(p *loggedProcess, s *session, call part) bool {
	if p.mode == modeRun {
		return false
	}
	silent := call.silentTooLong(scan.now)
	if requests, ok := p.history.requests[p.run]; ok {
		requested := slices.ContainsFunc(requests, func(l logLine) bool { return l.requests(call) })
		silent = requested && (silent || call.isSilent() && maxSilence(call.Tool) == reportDelay)
	}
	return silent && !scan.toolRuns(p, s, call)
}

// toolRuns reports whether the command of a tool call runs, although the call has not reported so far. It is a child of the agent:
// `/bin/bash -c COMMAND`, or COMMAND if the shell called exec.
func (scan *processScan) toolRuns(p *loggedProcess, s *session, call part) bool {
	if call.Command == "" {
		return false
	}
	for child := range scan.table.Children(p.ID.PID) {
		args, err := child.Args()
		if !child.Alive() || err != nil || !slices.Contains(args, call.Command) && strings.Join(args, " ") != call.Command {
			continue
		}
		if dir, err := child.Cwd(); err == nil && discover.RealPath(dir) == discover.RealPath(s.Dir) {
			return true
		}
	}
	return false
}

// isPermissionRequest reports whether a line of the shared log may be a request for permission, such as
//
//	… message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission=bash patterns="[\"sleep 33\"]"
//
// The line names neither the session nor the tool call, and the user's answer is not logged (READ, SEEN 1.18.33).
func isPermissionRequest(line []byte) bool {
	return bytes.Contains(line, []byte(" message=asking id=per_"))
}

// maxRequests is how many requests of each run are kept, the newest ones.
const maxRequests = 100

// requestLead is how long before the stored start of its tool call a request may be logged: the tool asks while the agent stores the call
// (1 ms SEEN 1.18.33). It is shorter than a user takes to answer, and the model to call the tool again.
const requestLead = 200 * time.Millisecond

// requests reports whether the line, a request for permission, may be for a tool call that has not reported so far.
func (l logLine) requests(call part) bool {
	if call.Started == 0 || l.at.Before(fromMillis(call.Started).Add(-requestLead)) {
		return false
	}
	switch l.permission {
	case "external_directory", "doom_loop": // any call may need one of these
		return true
	case "edit":
		return slices.Contains([]string{"edit", "write", "patch", "multiedit", "apply_patch"}, call.Tool)
	}
	return l.permission == call.Tool
}
