package transcript

import (
	"cmp"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// questionTool is the tool by which the model asks the user questions.
const questionTool = "AskUserQuestion"

// PendingCall is a tool call without a result.
type PendingCall struct {
	ID, Name string
	// WaitingOn is what the user is shown when asked about the call.
	WaitingOn *discover.WaitingOn
	at        string // its time
}

// waitingOn describes the call that a block makes, for the user who is asked about it.
func waitingOn(b Block) *discover.WaitingOn {
	input := b.Input.Object()
	path := cmp.Or(input.Get("notebook_path").Text(discover.PathLimit+1), input.Get("file_path").Text(discover.PathLimit+1))
	on := discover.NewWaitingOn(b.Name, callBrief(input), path, native.Questions(input))
	on.Diff = callDiff(b.Name, input)
	return on
}

// callDiff counts the lines that a call changes; nil for a tool that edits no text, and where the call does not say how many.
func callDiff(tool string, input jsonl.Object) *discover.Diff {
	switch tool {
	case "Edit", "MultiEdit":
		keys := native.EditKeys{Old: "old_string", New: "new_string", All: "replace_all"}
		if added, removed, ok := keys.DiffLines(input); ok {
			return discover.NewDiff(added, removed, true)
		}
	case "Write":
		return discover.NewDiff(native.CountLines(input.Get("content").Text(0)), 0, false)
	}
	return nil
}

// Question returns the pending call by which the model asks the user questions; nil if there is none.
func (s *Turn) Question() *discover.WaitingOn {
	for _, call := range s.Pending {
		if call.Name == questionTool {
			return call.WaitingOn
		}
	}
	return nil
}

// PermissionCall returns the only pending call that permission can be asked for; nil if there is none, or if there are
// several.
func (s *Turn) PermissionCall() *PendingCall {
	several := len(s.Pending) > 1
	if len(s.Pending) == 0 || several && slices.ContainsFunc(s.Pending, func(c PendingCall) bool { return !runsAlone(c.Name) }) {
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

// IsSubagentTool reports whether a tool starts a sub-agent. Task is the older name of Agent.
func IsSubagentTool(name string) bool { return name == "Agent" || name == "Task" }
