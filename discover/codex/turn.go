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
	lastKind recordKind
}

func (t *newestTurn) decided() bool {
	return t.damaged || t.State != discover.TurnUnknown && !t.endedSilently
}

// needs reports whether a record of this kind must be decoded in full. Calls are tracked without that.
func (t *newestTurn) needs(kind recordKind) bool {
	switch kind {
	case kindTurnStarted, kindTurnCompleted, kindTurnAborted, kindTurnError, kindReviewEntered:
		return !t.decided()
	}
	return !t.decided() && (t.endedSilently || t.lastKind == kindUnknown || t.seeksPrompt()) // any record of the conversation counts
}

// seeksPrompt reports whether the newest records of the conversation are input, and the words of the user are not among them so far.
func (t *newestTurn) seeksPrompt() bool {
	return t.Prompt == "" && !t.answered && (t.lastKind == kindUserText || t.lastKind == kindInjectedText)
}

// addDamaged adds a damaged record. A turn that is known to have ended has ended, although the reason may stay unknown.
func (t *newestTurn) addDamaged() {
	if !t.decided() {
		t.damaged, t.endedSilently = true, false
	}
}

// add adds the next older record. The newest record at a turn's beginning is when the newest turn began.
func (t *newestTurn) add(r *rolloutRecord) {
	if !t.decided() {
		t.decide(r)
	}
	if t.Began.IsZero() && startsTurn(r.Kind) {
		t.Began = r.Time()
	}
}

// startsTurn reports whether a record of this kind is at the beginning of a turn.
func startsTurn(kind recordKind) bool { return kind == kindTurnStarted || kind == kindTurnContext }

func (t *newestTurn) decide(r *rolloutRecord) {
	if t.endedSilently {
		t.resolveSilentEnd(r.Kind)
		return
	}
	if t.lastKind == kindUnknown && r.Kind.part() != partNone {
		t.lastKind = r.Kind
	}
	if t.seeksPrompt() && r.Kind == kindUserText {
		t.Prompt = boundedPrompt(r.Text())
	} else {
		t.answered = t.answered || r.Kind.part() != partNone && r.Kind != kindInjectedText
	}
	t.trackCalls(r)
	switch r.Kind {
	case kindTurnStarted:
		t.setOpen()
		t.Headless = r.Get("turn_attribution").Object().Get("turn_trigger").Text(0) == "exec"
	case kindTurnCompleted:
		t.setCompleted(r)
	case kindTurnAborted:
		t.State = discover.TurnInterrupted
	case kindTurnError:
		t.State, t.Error = discover.TurnFailed, r.Text()
	case kindReviewEntered:
		t.setOpen()
	}
}

func (t *newestTurn) setOpen() {
	t.State = discover.TurnOpen
	if t.openCall != "" {
		t.Detail, t.OpenCall = "tool: "+t.openCall, t.newestCall
	}
	t.markQuestion()
}

func (t *newestTurn) setCompleted(r *rolloutRecord) {
	var answer, failed, recordsErrors bool
	for key, value := range r.payload.Members() {
		switch string(key) {
		case "error":
			if message := value.Object().Get("message").Text(0); len(value) > 0 && value[0] == '{' {
				failed, t.Error = true, message
			}
		case "last_agent_message":
			answer = value.Text(1) != ""
		case "started_at": // written since the same version as an error: not by 0.143, by 0.145 (SEEN)
			recordsErrors = true
		}
	}
	t.State = discover.TurnDone
	if failed {
		t.State = discover.TurnFailed
	}
	t.endedSilently = !failed && !answer && !recordsErrors
}

// trackCalls notes which tool call has no output yet. Calls that are made together are stored together: all calls that are older than another
// call's result have been answered.
func (t *newestTurn) trackCalls(r *rolloutRecord) {
	if isCallOrResult := r.Kind == kindToolCall || r.Kind == kindToolResult; t.callsKnown || t.decided() || !isCallOrResult {
		return
	}
	switch id := r.Get("call_id").Text(0); {
	case id == "": // the agent's own addition to the conversation
	case r.Kind == kindToolResult:
		if t.callsKnown = t.openCall != ""; !t.callsKnown {
			t.answeredCalls = append(t.answeredCalls, id)
		}
	default:
		if i := slices.Index(t.answeredCalls, id); i >= 0 {
			t.answeredCalls = slices.Delete(t.answeredCalls, i, i+1)
			return
		}
		if t.openCall == "" {
			t.openCall, t.newestCall = r.Get("name").Text(80), newWaitingOn(r)
		}
		if mayNeedApproval(r) {
			t.approvalSince, t.approvalCall = r.Time(), newWaitingOn(r)
		}
	}
}

// noAnswerError is the error of a turn that ended without an answer in a version (up to 0.143) that does not record why.
const noAnswerError = "the turn ended without an answer; this version of Codex does not record why"

// resolveSilentEnd decides by an older record whether a turn that ended silently failed: an answer was due and never came.
func (t *newestTurn) resolveSilentEnd(kind recordKind) {
	part := kind.part()
	if part == partNone && !startsTurn(kind) {
		return
	}
	t.endedSilently = false
	if part == partInput || startsTurn(kind) {
		t.State, t.Error = discover.TurnFailed, noAnswerError
	}
}

// reachedStart ends the search at the beginning of the file. Versions up to 0.80 record neither the start nor the end of a turn (SEEN
// 0.42, 0.80). There an answer ends the turn; after anything else it may be in progress, cut off or failed. The words of the model
// alone are no answer: 0.42 stores the item, and the tool calls that may follow, only when their results are there.
func (t *newestTurn) reachedStart() {
	switch {
	case t.endedSilently:
		t.endedSilently = false
	case t.damaged:
	case t.State != discover.TurnUnknown:
	case t.openCall != "":
		t.setOpen()
	case t.lastKind == kindAgentText:
	case t.lastKind.part() == partOutput:
		t.State = discover.TurnDone
	case t.lastKind == kindUnknown:
		t.State = discover.TurnNone
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
func mayNeedApproval(r *rolloutRecord) bool {
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

// markQuestion sets an open turn to waiting if its newest call without output is a question.
func (t *newestTurn) markQuestion() {
	if t.openCall == questionTool {
		t.State, t.WaitingFor, t.WaitingOn = discover.TurnWaiting, "question", t.newestCall
	}
}

// TurnAt returns the newest turn as of now. It infers that the turn waits for approval from a call that may need it and has been open for
// long: Codex does not record that it asks (SEEN 0.104, 0.169). Whether a command of the call runs, only the processes show.
func (t *rolloutTail) TurnAt(now time.Time) discover.Turn {
	turn := t.newest.Turn
	asksUser := t.Settings.Approval != "" && t.Settings.Approval != "never" && (t.Settings.Reviewer == "" || t.Settings.Reviewer == "user")
	if turn.State == discover.TurnOpen && asksUser && !t.newest.approvalSince.IsZero() && now.Sub(t.newest.approvalSince) > approvalDelay {
		turn.State, turn.WaitingFor, turn.SilentSince = discover.TurnWaiting, "permission", t.newest.approvalSince
		turn.WaitingOn = t.newest.approvalCall
	}
	if turn.State != discover.TurnOpen {
		turn.Prompt = ""
	}
	return turn
}

// newWaitingOn describes the call that the user is asked about. The paths in a patch are relative to the session's directory.
func newWaitingOn(r *rolloutRecord) *discover.WaitingOn {
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

// initialTurn is the turn of a thread without records: an exec runs one turn and exits, any other process waits for the first prompt.
func (in invocation) initialTurn() *discover.Turn {
	if in.role == exec {
		return &discover.Turn{State: discover.TurnOpen}
	}
	return &discover.Turn{State: discover.TurnNone}
}
