package opencode

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// abortedName is the error of a message whose turn the user or a signal ended.
const abortedName = "MessageAbortedError"

// finishToolCalls is the finish reason of a message that ends a step, not the turn.
const finishToolCalls = "tool-calls"

// How the error of a tool call begins if the user refused it, which ends the turn. If the error has the user's feedback, the model
// continues with that (SEEN 1.1.65, 1.18.33).
const (
	rejectedPermission = "The user rejected permission"
	dismissedQuestion  = "The user dismissed this question"
	withFeedback       = "with the following feedback"
)

// isRefusal reports whether the error of a tool call says that the user refused it. Early versions put "Error: " before it (SEEN 1.1.65).
func isRefusal(text string) bool {
	text = strings.TrimPrefix(text, "Error: ")
	return strings.HasPrefix(text, rejectedPermission) || strings.HasPrefix(text, dismissedQuestion)
}

// Turn returns the newest turn, as far as storage shows it. It is unknown if the last message could not be read.
func (t *tail) Turn() (turn discover.Turn) {
	if !t.unread {
		turn = t.state()
	}
	turn.Began = t.turnStart()
	turn.Unanswered = turn.State == discover.TurnOpen && t.unanswered()
	return turn
}

// state derives the turn from the last message and its parts. Earlier messages do not count: what a killed process left open there
// stays open forever.
func (t *tail) state() discover.Turn {
	switch last := t.Last; {
	case last == nil:
		return discover.Turn{State: discover.TurnNone}
	case t.endedBy != nil:
		return t.endedBy.state()
	case last.Role == userRole:
		return discover.Turn{State: discover.TurnOpen, Detail: "model"}
	case last.Role != assistantRole:
		return discover.Turn{}
	case last.failed && last.errName == abortedName:
		return discover.Turn{State: discover.TurnInterrupted}
	case last.failed:
		return discover.Turn{State: discover.TurnFailed, Error: last.failure()}
	case last.Completed == 0:
		return openTurn(t.parts)
	case last.finishReason != finishToolCalls:
		return discover.Turn{State: discover.TurnDone}
	case t.refused():
		return discover.Turn{State: discover.TurnInterrupted}
	}
	return discover.Turn{State: discover.TurnOpen, Detail: "model"}
}

// refused reports whether the user refused a tool call of the last message.
func (t *tail) refused() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return isRefusal(p.errText) && !strings.Contains(p.errText, withFeedback) })
}

// failure returns why the message failed.
func (m *storedMessage) failure() string {
	return discover.Truncate(cmp.Or(m.errText, m.errName), errorLimit)
}

// openTurn returns a turn that has not ended, by its running tool calls.
func openTurn(parts []part) discover.Turn {
	turn := discover.Turn{State: discover.TurnOpen, Detail: "model"}
	for _, p := range parts {
		if !p.running() {
			continue
		}
		if p.Tool == questionTool {
			return discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: p.WaitingOn()}
		}
		turn.Detail = "tool: " + p.Tool
	}
	return turn
}

// turnStart returns when the prompt of the turn was submitted. The ID of an answer's parent, the prompt, contains that time.
func (t *tail) turnStart() time.Time {
	switch last := t.Last; {
	case last == nil:
		return time.Time{}
	case last.Role == userRole:
		return fromMillis(last.Created)
	default:
		return fromMillis(messageIDTime(last.parentID, last.Created))
	}
}

// unanswered reports whether the model has not begun to answer. The agent stores its message before it asks the model, and the first
// part of that message when the model begins to answer (SEEN 1.1.65, 1.18.33).
func (t *tail) unanswered() bool {
	return t.Last.Role == userRole || t.Last.Completed == 0 && len(t.parts) == 0
}
