package claudecode

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
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
func (x *process) permissionCall(ctx context.Context, s *turnReader, path string) *discover.WaitingOn {
	call := s.PermissionCall()
	if call == nil {
		return nil
	}
	if !isSubagentTool(call.Name) {
		return call.WaitingOn
	}
	subagents, _ := x.startedSubagents(ctx, path) // Read reports what cannot be read
	for _, b := range subagents {
		if b.ToolUseID != call.ID {
			continue
		}
		tail, err := readTail(ctx, b.path)
		if call := tail.Turn.PermissionCall(); err == nil && call != nil && !isSubagentTool(call.Name) {
			return call.WaitingOn
		}
	}
	return nil
}

// questionTool is the tool by which the model asks the user questions.
const questionTool = "AskUserQuestion"

// pendingCall is a tool call without a result.
type pendingCall struct {
	ID, Name string
	// WaitingOn is what the user is shown when asked about the call.
	WaitingOn *discover.WaitingOn
	at        string // its time
}

// waitingOn describes the call that a block makes, for the user who is asked about it.
func waitingOn(b block) *discover.WaitingOn {
	input := b.Input.Object()
	path := cmp.Or(input.Get("notebook_path").Text(discover.PathLimit+1), input.Get("file_path").Text(discover.PathLimit+1))
	on := discover.NewWaitingOn(b.Name, callBrief(input), path, storage.Questions(input))
	on.ID = discover.Truncate(b.ID, discover.BriefLimit)
	on.Diff = callDiff(b.Name, input)
	return on
}

// callDiff counts the lines that a call changes; nil for a tool that edits no text, and where the call does not say how many.
func callDiff(tool string, input storage.Object) *discover.Diff {
	switch tool {
	case "Edit", "MultiEdit":
		keys := storage.EditKeys{Old: "old_string", New: "new_string", All: "replace_all"}
		if added, removed, ok := keys.DiffLines(input); ok {
			return discover.NewDiff(added, removed, true)
		}
	case "Write":
		return discover.NewDiff(storage.CountLines(input.Get("content").Text(0)), 0, false)
	}
	return nil
}

// Question returns the pending call by which the model asks the user questions; nil if there is none.
func (s *turnReader) Question() *discover.WaitingOn {
	for _, call := range s.Pending {
		if call.Name == questionTool {
			return call.WaitingOn
		}
	}
	return nil
}

// PermissionCall returns the only pending call that permission can be asked for; nil if there is none, or if there are
// several.
func (s *turnReader) PermissionCall() *pendingCall {
	several := len(s.Pending) > 1
	if len(s.Pending) == 0 || several && slices.ContainsFunc(s.Pending, func(c pendingCall) bool { return !runsAlone(c.Name) }) {
		return nil
	}
	return &s.Pending[len(s.Pending)-1] // the newest call is first
}

// runsAlone reports whether a call of this tool is asked about, and carried out, before the next call of the same message.
// Commands that only read may run in parallel; permission is not asked for them.
func runsAlone(tool string) bool {
	switch tool {
	case "Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode":
		return true
	}
	return false
}

// isSubagentTool reports whether a tool starts a sub-agent. Task is the older name of Agent.
func isSubagentTool(name string) bool { return name == "Agent" || name == "Task" }
