package opencode

import (
	"cmp"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// abortedName is the error of a message whose turn the person or a signal ended.
const abortedName = "MessageAbortedError"

// What a tool's error begins with when the person refused it, which ends the turn; unless they said why: then the model goes
// on with that (SEEN 1.1.65, 1.18.33).
const (
	rejectedPermission = "The user rejected permission"
	dismissedQuestion  = "The user dismissed this question"
	withFeedback       = "with the following feedback"
)

// turnOf judges a session by its last message and that message's parts. Only the last one counts: what a killed
// process left open further up stays open for ever.
func turnOf(last *message, parts []part) discover.Turn {
	switch {
	case last == nil:
		return discover.Turn{State: discover.TurnNone}
	case last.role == "user":
		return discover.Turn{State: discover.TurnOpen, Detail: "model"}
	case last.role != "assistant":
		return discover.Turn{}
	case last.failed && last.errName == abortedName:
		return discover.Turn{State: discover.TurnInterrupted}
	case last.failed:
		return discover.Turn{State: discover.TurnFailed, Error: discover.Truncate(cmp.Or(last.errText, last.errName), textLimit)}
	case last.completed == 0:
		return openTurn(parts)
	case last.finishReason != finishToolCalls:
		return discover.Turn{State: discover.TurnDone}
	}
	for _, p := range parts {
		if isRefusal(p.errText) && !strings.Contains(p.errText, withFeedback) {
			return discover.Turn{State: discover.TurnInterrupted}
		}
	}
	return discover.Turn{State: discover.TurnOpen, Detail: "model"}
}

// isRefusal reports whether a tool's error says that the person refused it; early versions call it an error besides (SEEN 1.1.65).
func isRefusal(text string) bool {
	text = strings.TrimPrefix(text, "Error: ")
	return strings.HasPrefix(text, rejectedPermission) || strings.HasPrefix(text, dismissedQuestion)
}

// finishToolCalls ends a step, not a turn.
const finishToolCalls = "tool-calls"

// needsParts reports whether the parts of the last message say more about the turn than the message alone.
func needsParts(last *message) bool {
	return last != nil && last.role == "assistant" && !last.failed &&
		(last.completed == 0 || last.finishReason == finishToolCalls)
}

func openTurn(parts []part) discover.Turn {
	turn := discover.Turn{State: discover.TurnOpen, Detail: "model"}
	for _, p := range parts {
		if !p.running() {
			continue
		}
		if p.tool == "question" {
			return discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: p.waitingOn()}
		}
		turn.Detail = "tool: " + p.tool
	}
	return turn
}

// statusRunning is the status of a tool call that has its input and has not ended. It may wait for the person.
const statusRunning = "running"

// running reports whether the part is a tool call that has not ended.
func (p part) running() bool { return p.kind == "tool" && p.status == statusRunning }

// waitingOn is what the person is to be asked about the call.
func (p part) waitingOn() *discover.WaitingOn {
	input := jsonl.Object(p.input)
	call := discover.ToolCall{Name: p.tool, Input: []byte(p.input)}
	return discover.NewWaitingOn(p.tool, brief(call), input.Get("filePath").Text(discover.PathLimit+1), native.Questions(input))
}

// reportDelay is how long a tool may take to report that reports at once: four seconds SEEN on a busy machine (1.18.33).
const reportDelay = 5 * time.Second

// maxSilence is the longest that a tool can have begun without reporting; a call that is silent for longer waits for
// permission. The tools named first report at once (SEEN 1.18.33 for bash, write and task: nothing before the answer),
// webfetch ends after two minutes at the latest. Others, those of MCP servers say, may work in silence for ever.
func maxSilence(tool string) (longest time.Duration, bounded bool) {
	switch tool {
	case "bash", "edit", "write", "patch", "multiedit", "apply_patch", "task":
		return reportDelay, true
	case "webfetch":
		return 2 * time.Minute, true
	}
	return 0, false
}

// reportsAtOnce reports whether the tool is one that says something as soon as it may begin.
func (p part) reportsAtOnce() bool {
	longest, bounded := maxSilence(p.tool)
	return bounded && longest <= reportDelay
}

// silent reports whether the tool call is one of those whose silence is bounded, and has said nothing so far.
func (p part) silent() bool {
	_, bounded := maxSilence(p.tool)
	return bounded && p.running() && !p.hasMetadata && p.started > 0
}

// silentTooLong reports whether the tool call has been silent for longer than it can be at work. It counts only where nothing
// else tells: a machine may be busier than any that was seen.
func (p part) silentTooLong(now time.Time) bool {
	longest, _ := maxSilence(p.tool)
	return p.silent() && now.Sub(timeOf(p.started)) > longest
}
