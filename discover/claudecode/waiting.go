package claudecode

import (
	"cmp"
	"context"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native"
)

// pendingCall is a call of a tool that has no answer.
type pendingCall struct {
	ID, Name string
	// on is what a person who is asked about the call is shown.
	on *discover.WaitingOn
}

// waitingOn is the call that a block makes, for the person who is asked about it.
func waitingOn(b block) *discover.WaitingOn {
	input := b.input.Object()
	path := cmp.Or(input.Get("notebook_path").Text(discover.PathLimit+1), input.Get("file_path").Text(discover.PathLimit+1))
	return discover.NewWaitingOn(b.Name, briefOf(input), path, native.Questions(input))
}

// question is the call by which the model asks the person something; nil if no such call is without an answer.
func (s *turnScan) question() *discover.WaitingOn {
	for _, call := range s.pending {
		if call.Name == questionTool {
			return call.on
		}
	}
	return nil
}

// permission is the call that the person is asked about, of a turn that is known to wait for permission; nil where it may be one
// of several. Calls that run alone are made one after the other, so that the first one without an answer is asked about. Where a
// sub-agent is the only one at work, its call counts.
func (x *process) permission(ctx context.Context, s *turnScan, path string) *discover.WaitingOn {
	call := s.askedAbout()
	if call == nil {
		return nil
	}
	if !isAgentTool(call.Name) {
		return call.on
	}
	begun, _ := x.begun(ctx, path) // what cannot be read is said of the record
	for _, b := range begun {
		if b.ToolUseID != call.ID {
			continue
		}
		tail, err := readTail(ctx, b.path)
		if call := tail.turn.askedAbout(); err == nil && call != nil && !isAgentTool(call.Name) {
			return call.on
		}
	}
	return nil
}

// askedAbout is the one call that can be asked about; nil if there is none, or more.
func (s *turnScan) askedAbout() *pendingCall {
	several := len(s.pending) > 1
	if len(s.pending) == 0 || several && slices.ContainsFunc(s.pending, func(c pendingCall) bool { return !runsAlone(c.Name) }) {
		return nil
	}
	return &s.pending[len(s.pending)-1] // the newest is first in the list
}

// runsAlone reports whether a call of this tool is asked about, and carried out, before the next one of the same message. A command
// that only reads may run beside others; those are not asked about.
func runsAlone(tool string) bool {
	switch tool {
	case "Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode":
		return true
	}
	return false
}

// isAgentTool tells the tool that starts a sub-agent; Task is its older name.
func isAgentTool(name string) bool { return name == "Agent" || name == "Task" }
