package claudecode

import (
	"context"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// liveTurn returns what the process itself shows of its turn; nil if only the transcript tells.
func (x *process) liveTurn(ctx context.Context, path string) *discover.Turn {
	source := x.source()
	switch status := x.entry.Status; {
	case status == "busy" && source == "tui" && path != "" && x.readTeam(ctx).hasTerminals():
		return nil // it is busy as long as there are such teammates, whatever they do (SEEN 2.1.332)
	case status == "busy":
		return &discover.Turn{State: discover.TurnOpen}
	case status == "waiting":
		return x.waitingTurn(ctx, path)
	case source == "print" && !x.cmdline.stream: // the process ends with its turn, and is "idle" before the turn begins (2.1.329)
		return &discover.Turn{State: discover.TurnOpen}
	case status == "idle", status == "shell":
		return &discover.Turn{State: discover.TurnDone}
	case source == "tui" && path == "" && x.registered(): // a TUI creates its transcript at the first prompt
		return &discover.Turn{State: discover.TurnNone}
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

// readHead reads the beginning of a transcript.
func readHead(ctx context.Context, path string) (head transcript.Head, err error) {
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return head, err
	}
	defer f.Close()
	err = head.Read(f)
	return head, err
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
