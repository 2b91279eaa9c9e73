package transcript

import (
	"cmp"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native"
)

// questionTool is the tool by which the model asks the person something.
const questionTool = "AskUserQuestion"

// PendingCall is a call of a tool that has no answer.
type PendingCall struct {
	ID, Name string
	// WaitingOn is what a person who is asked about the call is shown.
	WaitingOn *discover.WaitingOn
}

// waitingOn is the call that a block makes, for the person who is asked about it.
func waitingOn(b Block) *discover.WaitingOn {
	input := b.Input.Object()
	path := cmp.Or(input.Get("notebook_path").Text(discover.PathLimit+1), input.Get("file_path").Text(discover.PathLimit+1))
	return discover.NewWaitingOn(b.Name, callSummary(input), path, native.Questions(input))
}

// Question is the call by which the model asks the person something; nil if no such call is without an answer.
func (s *Turn) Question() *discover.WaitingOn {
	for _, call := range s.Pending {
		if call.Name == questionTool {
			return call.WaitingOn
		}
	}
	return nil
}

// PermissionCall is the one call that can be asked about; nil if there is none, or more.
func (s *Turn) PermissionCall() *PendingCall {
	several := len(s.Pending) > 1
	if len(s.Pending) == 0 || several && slices.ContainsFunc(s.Pending, func(c PendingCall) bool { return !RunsAlone(c.Name) }) {
		return nil
	}
	return &s.Pending[len(s.Pending)-1] // the newest is first in the list
}

// RunsAlone reports whether a call of this tool is asked about, and carried out, before the next one of the same message. A command
// that only reads may run beside others; those are not asked about.
func RunsAlone(tool string) bool {
	switch tool {
	case "Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode":
		return true
	}
	return false
}

// IsSubagentTool tells the tool that starts a sub-agent; Task is its older name.
func IsSubagentTool(name string) bool { return name == "Agent" || name == "Task" }
