package codex

import (
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// newestTurn finds the state of the newest turn. Records come newest first. Codex has the same rule: the last one of task_started
// (open), task_complete, turn_aborted and error (over) decides. Their turn IDs need not match: the parent of a review ends a turn
// that it never began.
type newestTurn struct {
	discover.Turn
	// endedSilently: the turn ended without an answer, in a version too old to record an error. Older records decide whether it failed.
	endedSilently bool
	// answeredCalls are the IDs of outputs that were read and whose calls, which are older, were not. openCall is the newest call
	// without output.
	answeredCalls []string
	openCall      string
	// answered: a record follows the newest words of the user.
	answered bool
	// callsKnown: no older call can be without output.
	callsKnown bool
	// approvalCall is the oldest call without output that may need the user's approval, approvalSince its time. newestCall describes
	// openCall.
	approvalCall, newestCall *discover.WaitingOn
	approvalSince            time.Time
	// damaged: a damaged record may have decided, so that nothing older can.
	damaged bool
	// lastKind is the kind of the newest record of the conversation, for files without any of the above.
	lastKind lineKind
}

func (n *newestTurn) decided() bool {
	return n.damaged || n.State != discover.TurnUnknown && !n.endedSilently
}

// needs reports whether a record of this kind must be decoded in full. Calls are tracked without that.
func (n *newestTurn) needs(kind lineKind) bool {
	switch kind {
	case kindTurnStarted, kindTurnCompleted, kindTurnAborted, kindTurnError, kindReviewEntered:
		return !n.decided()
	}
	return !n.decided() && (n.endedSilently || n.lastKind == kindUnknown || n.seeksPrompt()) // any record of the conversation counts
}

// seeksPrompt reports whether the newest records of the conversation are input, and the words of the user are not among them so far.
func (n *newestTurn) seeksPrompt() bool {
	return n.Prompt == "" && !n.answered && (n.lastKind == kindUserText || n.lastKind == kindInjectedText)
}

// addDamaged adds a damaged record. A turn that is known to have ended has ended, although the reason may stay unknown.
func (n *newestTurn) addDamaged() {
	if !n.decided() {
		n.damaged, n.endedSilently = true, false
	}
}

// add adds the next older record. The newest record at a turn's beginning is when the newest turn began.
func (n *newestTurn) add(r *rolloutLine) {
	if !n.decided() {
		n.decide(r)
	}
	if n.Began.IsZero() && startsTurn(r.Kind) {
		n.Began = r.Time()
	}
}

// startsTurn reports whether a record of this kind is at the beginning of a turn.
func startsTurn(kind lineKind) bool { return kind == kindTurnStarted || kind == kindTurnContext }

func (n *newestTurn) decide(r *rolloutLine) {
	if n.endedSilently {
		n.resolveSilentEnd(r.Kind)
		return
	}
	if n.lastKind == kindUnknown && r.Kind.part() != partNone {
		n.lastKind = r.Kind
	}
	if n.seeksPrompt() && r.Kind == kindUserText {
		n.Prompt = boundedPrompt(r.Text())
	} else {
		n.answered = n.answered || r.Kind.part() != partNone && r.Kind != kindInjectedText
	}
	n.trackCalls(r)
	switch r.Kind {
	case kindTurnStarted:
		n.setOpen()
		n.Headless = r.Get("turn_attribution").Object().Get("turn_trigger").Text(0) == "exec"
	case kindTurnCompleted:
		n.setCompleted(r)
	case kindTurnAborted:
		n.State = discover.TurnInterrupted
	case kindTurnError:
		n.State, n.Error = discover.TurnFailed, r.Text()
	case kindReviewEntered:
		n.setOpen()
	}
}

// setOpen sets the turn to open, or to waiting if its newest call without output is a question.
func (n *newestTurn) setOpen() {
	n.State = discover.TurnOpen
	if n.openCall != "" {
		n.Detail, n.OpenCall = "tool: "+n.openCall, n.newestCall
	}
	if n.openCall == questionTool {
		n.State, n.WaitingFor, n.WaitingOn = discover.TurnWaiting, "question", n.newestCall
	}
}

func (n *newestTurn) setCompleted(r *rolloutLine) {
	if failure := r.Get("error").Object(); isObject(failure) {
		n.State, n.Error = discover.TurnFailed, failure.Get("message").Text(0)
		return
	}
	n.State = discover.TurnDone
	// started_at is written since the same version as an error: not by 0.143, by 0.145 (SEEN).
	n.endedSilently = r.Get("last_agent_message").Text(1) == "" && r.Get("started_at") == nil
}

// trackCalls notes which tool call has no output yet. Calls that are made together are stored together: all calls that are older than another
// call's result have been answered.
func (n *newestTurn) trackCalls(r *rolloutLine) {
	if isCallOrResult := r.Kind == kindToolCall || r.Kind == kindToolResult; n.callsKnown || n.decided() || !isCallOrResult {
		return
	}
	switch id := r.Get("call_id").Text(0); {
	case id == "": // the agent's own addition to the conversation
	case r.Kind == kindToolResult:
		if n.callsKnown = n.openCall != ""; !n.callsKnown {
			n.answeredCalls = append(n.answeredCalls, id)
		}
	default:
		if i := slices.Index(n.answeredCalls, id); i >= 0 {
			n.answeredCalls = slices.Delete(n.answeredCalls, i, i+1)
			return
		}
		if n.openCall == "" {
			n.openCall, n.newestCall = r.Get("name").Text(80), newWaitingOn(r)
		}
		if mayNeedApproval(r) {
			n.approvalSince, n.approvalCall = r.Time(), newWaitingOn(r)
		}
	}
}

// noAnswerError is the error of a turn that ended without an answer in a version (up to 0.143) that does not record why.
const noAnswerError = "the turn ended without an answer; this version of Codex does not record why"

// resolveSilentEnd decides by an older record whether a turn that ended silently failed: an answer was due and never came.
func (n *newestTurn) resolveSilentEnd(kind lineKind) {
	part := kind.part()
	if part == partNone && !startsTurn(kind) {
		return
	}
	n.endedSilently = false
	if part == partInput || startsTurn(kind) {
		n.State, n.Error = discover.TurnFailed, noAnswerError
	}
}

// reachedStart ends the search at the beginning of the file. Versions up to 0.80 record neither the start nor the end of a turn (SEEN
// 0.42, 0.80). There an answer ends the turn; after anything else it may be in progress, cut off or failed. The words of the model
// alone are no answer: 0.42 stores the item, and the tool calls that may follow, only when their results are there.
func (n *newestTurn) reachedStart() {
	switch {
	case n.endedSilently:
		n.endedSilently = false
	case n.damaged:
	case n.State != discover.TurnUnknown:
	case n.openCall != "":
		n.setOpen()
	case n.lastKind == kindAgentText:
	case n.lastKind.part() == partOutput:
		n.State = discover.TurnDone
	case n.lastKind == kindUnknown:
		n.State = discover.TurnNone
	}
}

// questionTool is the tool by which the model asks the user a question. Its call stays open while the question is shown (SEEN 0.169),
// or is answered at once where the mode does not allow questions.
const questionTool = "request_user_input"

// approvalDelay is how long a call must be open before it counts as waiting for approval. Codex applies a patch faster than that, and a
// command that runs has a process.
const approvalDelay = time.Second

// mayNeedApproval reports whether the user may be asked before a tool call runs: for a command outside of the sandbox, and for a patch.
// Codex applies a patch itself, also where the model writes it as a command (SEEN 0.169). For other calls Codex does not ask, or the
// rollout does not show that it does.
func mayNeedApproval(r *rolloutLine) bool {
	switch r.Get("name").Text(80) {
	case "exec_command", "shell_command", "shell":
		call := parseToolCall(r)
		return storage.Object(call.Input).Get("sandbox_permissions").Text(80) == "require_escalated" ||
			strings.Contains(call.Brief, storage.PatchHeader)
	case "apply_patch":
		return true
	}
	return false
}

// TurnAt returns the newest turn as of now. It infers that the turn waits for approval from a call that may need it and has been open for
// long: Codex does not record that it asks (SEEN 0.104, 0.169). Whether a command of the call runs, only the processes show.
func (r *rolloutTail) TurnAt(now time.Time) discover.Turn {
	turn := r.newest.Turn
	asksUser := r.Settings.Approval != "" && r.Settings.Approval != "never" && (r.Settings.Reviewer == "" || r.Settings.Reviewer == "user")
	if turn.State == discover.TurnOpen && asksUser && !r.newest.approvalSince.IsZero() && now.Sub(r.newest.approvalSince) > approvalDelay {
		turn.State, turn.WaitingFor, turn.SilentSince = discover.TurnWaiting, "permission", r.newest.approvalSince
		turn.WaitingOn = r.newest.approvalCall
	}
	if turn.State != discover.TurnOpen {
		turn.Prompt = ""
	}
	return turn
}

// newWaitingOn describes the call that the user is asked about. The paths in a patch are relative to the session's directory.
func newWaitingOn(r *rolloutLine) *discover.WaitingOn {
	call := parseToolCall(r)
	patch := storage.ParsePatch(call.Brief)
	if len(patch.Files) == 0 {
		patch = storage.ParsePatch(r.Get("input").Text(0))
	}
	path := ""
	if len(patch.Files) == 1 {
		path = patch.Files[0]
	}
	on := discover.NewWaitingOn(call.Name, call.Brief, path, storage.Questions(storage.Object(call.Input)))
	on.ID = discover.Truncate(call.ID, discover.BriefLimit)
	if len(patch.Files) > 0 {
		on.Diff = discover.NewDiff(patch.Added, patch.Removed, !patch.DeletesFiles)
	}
	return on
}

// liveTurn is the turn of a thread without records: an exec runs one turn and exits, any other process waits for the first prompt.
func (in invocation) liveTurn() *discover.Turn {
	if in.role == exec {
		return &discover.Turn{State: discover.TurnOpen}
	}
	return &discover.Turn{State: discover.TurnNone}
}
