package claudecode

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// liveTurn returns what the process itself shows of its turn; nil if only the transcript tells.
func (l *processScan) liveTurn(x *process, path string) *discover.Turn {
	source := x.source()
	switch status := x.entry.Status; {
	case status == "busy" && source == "tui" && path != "" && x.readTeam(l.ctx).hasTerminals():
		return nil // it is busy as long as there are such teammates, whatever they do (SEEN 2.1.332)
	case status == "busy":
		return &discover.Turn{State: discover.TurnOpen}
	case status == "waiting":
		return x.waitingTurn(l.ctx, path)
	case source == "print" && !x.cmdline.stream: // the process ends with its turn, and is "idle" before the turn begins (2.1.329)
		return &discover.Turn{State: discover.TurnOpen}
	case status == "idle", status == "shell":
		return &discover.Turn{State: discover.TurnDone}
	}
	switch {
	case source == "tui" && path == "" && x.registered(): // a TUI creates its transcript at the first prompt
		return &discover.Turn{State: discover.TurnNone}
	case source == "tui":
		return l.inferWaiting(x, path)
	}
	return nil
}

// waitingTurn returns the turn of a process whose registry entry says "waiting", with the reason in our words. A question
// waits as "permission prompt" (2.1.197) or "input needed" (2.1.329): the pending tool call shows that it is one.
func (x *process) waitingTurn(ctx context.Context, path string) *discover.Turn {
	word := x.entry.WaitingFor
	turn := &discover.Turn{State: discover.TurnWaiting, WaitingFor: word}
	if strings.HasPrefix(word, "approve ") { // with the name of the tool (SEEN 2.1.132; .170 has "permission prompt")
		word = "permission prompt"
	}
	if word != "permission prompt" && word != "input needed" {
		return turn
	}
	tail, err := readTail(ctx, path)
	if question := tail.Turn.Question(); err == nil && question != nil {
		turn.WaitingFor, turn.WaitingOn = "question", question
	} else if word == "permission prompt" {
		turn.WaitingFor = "permission"
		if err == nil {
			turn.WaitingOn = x.permissionCall(ctx, &tail.Turn, path)
		}
	}
	return turn
}

// inferWaiting returns a waiting turn if the user is being asked, for versions whose registry has no status (before
// 2.1.119). A pending call of a tool that starts a command, or is done at once, waits for permission if no command was
// started for a while.
func (l *processScan) inferWaiting(x *process, path string) *discover.Turn {
	tail, err := readTail(l.ctx, path)
	if err != nil || tail.Turn.Result(true).State != discover.TurnOpen || len(tail.Turn.Pending) == 0 {
		return nil
	}
	if !x.StartedBefore(tail.Updated) { // another process, which was killed, made the call
		return nil
	}
	if question := tail.Turn.Question(); question != nil {
		return &discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: question}
	}
	const grace = time.Second // more than between the record of a call and the start of its command
	if slices.ContainsFunc(tail.Turn.Pending, func(c transcript.PendingCall) bool { return !transcript.RunsAlone(c.Name) }) {
		return nil
	}
	if len(l.toolCommands(x)) > 0 || time.Since(tail.Updated) < grace {
		return nil
	}
	return &discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: x.permissionCall(l.ctx, &tail.Turn, path)}
}

// permissionCall returns the call that the user is asked about in a turn that waits for permission; nil if it may be one of
// several. Calls that run alone are made one after the other, so the first one without a result is asked about. If the only
// pending call is a sub-agent's, the sub-agent's call counts.
func (x *process) permissionCall(ctx context.Context, s *transcript.Turn, path string) *discover.WaitingOn {
	call := s.PermissionCall()
	if call == nil {
		return nil
	}
	if !transcript.IsSubagentTool(call.Name) {
		return call.WaitingOn
	}
	subagents, _ := x.startedSubagents(ctx, path) // Read reports what cannot be read
	for _, b := range subagents {
		if b.ToolUseID != call.ID {
			continue
		}
		tail, err := readTail(ctx, b.path)
		if call := tail.Turn.PermissionCall(); err == nil && call != nil && !transcript.IsSubagentTool(call.Name) {
			return call.WaitingOn
		}
	}
	return nil
}

// readTail reads the end of the transcript of a session or sub-agent.
func readTail(ctx context.Context, path string) (tail transcript.Tail, err error) {
	tail.Sidechain = isSubagent(filepath.Base(path))
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return tail, err
	}
	defer f.Close()
	err = tail.Read(f)
	return tail, err
}
