package transcript

import (
	"slices"
	"time"

	"agentctl/discover"
)

// NewestTurn finds how the newest turn stands from the records of a rollout, newest first. The rule is that of Codex itself:
// the last of task_started (open), task_complete, turn_aborted and error (over) decides. Their turn ids need not
// match: a review's parent ends a turn that it never began.
type NewestTurn struct {
	discover.Turn
	// endedSilently: the turn is over without an answer, and the version is too old to record an error. What stands before
	// the end decides whether it failed.
	endedSilently bool
	// answeredCalls: the calls whose output has been seen, and they themselves not; call: the newest one without.
	answeredCalls []string
	openCall      string
	// callsKnown: all calls are known that have no output.
	callsKnown bool
	// approvalSince is when a call without output was made that the person may be asked about; zero if there is none.
	approvalSince time.Time
	// waitingOn is that call, or the newest one without output where it is a question.
	waitingOn *discover.WaitingOn
	// damaged: a record that may have decided is damaged, so that nothing older does.
	damaged bool
	// lastPart is the newest record of a conversation, for files without any of the above.
	lastPart conversationPart
}

func (t *NewestTurn) decided() bool {
	return t.damaged || t.State != discover.TurnUnknown && !t.endedSilently
}

// needs reports whether a record can tell more of the turn than which calls there were.
func (t *NewestTurn) needs(is Kind) bool {
	switch is {
	case TurnStarted, TurnCompleted, TurnAborted, TurnFailed, ReviewEntered:
		return !t.decided()
	}
	return !t.decided() && (t.endedSilently || t.lastPart == partNone) // any record of the conversation counts
}

// addDamaged takes a damaged record. A turn that is over stays so; only how it ended may not be known then.
func (t *NewestTurn) addDamaged() {
	if !t.decided() {
		t.damaged, t.endedSilently = true, false
	}
}

// noAnswerError is the error of a turn that ended without an answer in a version (up to 0.130) that does not record why.
const noAnswerError = "the turn ended without an answer; this version of Codex does not record why"

// add takes the next older record. The first that is met of a turn's start and the settings that follow it tells when the
// newest turn began.
func (t *NewestTurn) add(r *Record) {
	if !t.decided() {
		t.decide(r)
	}
	if t.Began.IsZero() && StartsTurn(r.Kind) {
		t.Began = r.Time()
	}
}

// StartsTurn reports whether a record stands at the beginning of a turn.
func StartsTurn(is Kind) bool { return is == TurnStarted || is == TurnContext }

func (t *NewestTurn) decide(r *Record) {
	if t.endedSilently {
		t.resolveSilentEnd(r.Kind)
		return
	}
	if t.lastPart == partNone {
		t.lastPart = r.Kind.part()
	}
	t.trackCalls(r)
	switch r.Kind {
	case TurnStarted:
		t.setOpen()
		t.Headless = r.Get("turn_attribution").Object().Get("turn_trigger").Text(0) == "exec"
	case TurnCompleted:
		t.setCompleted(r)
	case TurnAborted:
		t.State = discover.TurnInterrupted
	case TurnFailed:
		t.State, t.Error = discover.TurnFailed, r.Text()
	case ReviewEntered:
		t.setOpen()
	}
}

func (t *NewestTurn) setOpen() {
	t.State = discover.TurnOpen
	if t.openCall != "" {
		t.Detail = "tool: " + t.openCall
	}
	if t.openCall == questionTool {
		t.State, t.WaitingFor, t.WaitingOn = discover.TurnWaiting, "question", t.waitingOn
	}
}

func (t *NewestTurn) setCompleted(r *Record) {
	var answer, failed, timed bool
	for key, value := range r.payload.Members() {
		switch string(key) {
		case "error":
			if message := value.Object().Get("message").Text(0); len(value) > 0 && value[0] == '{' {
				failed, t.Error = true, message
			}
		case "last_agent_message":
			answer = value.Text(1) != ""
		case "completed_at":
			timed = true
		}
	}
	t.State = discover.TurnDone
	if failed {
		t.State = discover.TurnFailed
	}
	t.endedSilently = !failed && !answer && !timed
}

// resolveSilentEnd decides on a silent end by what stands before it: an answer that is due never came.
func (t *NewestTurn) resolveSilentEnd(is Kind) {
	step := is.part()
	if step == partNone && !StartsTurn(is) {
		return
	}
	t.endedSilently = false
	if step == partInput || StartsTurn(is) {
		t.State, t.Error = discover.TurnFailed, noAnswerError
	}
}

// trackCalls remembers which call of a tool is still without its output. Of a record it looks at the beginning only. Calls that
// are made together stand together: what stands before the results of others was answered.
func (t *NewestTurn) trackCalls(r *Record) {
	if t.callsKnown || t.decided() {
		return
	}
	switch r.Kind {
	case ToolResult:
		if t.callsKnown = t.openCall != ""; !t.callsKnown {
			t.answeredCalls = append(t.answeredCalls, r.Get("call_id").Text(0))
		}
	case ToolCall:
		if i := slices.Index(t.answeredCalls, r.Get("call_id").Text(0)); i >= 0 {
			t.answeredCalls = slices.Delete(t.answeredCalls, i, i+1)
			return
		}
		if t.openCall == "" {
			if t.openCall = r.Get("name").Text(80); t.openCall == questionTool {
				t.waitingOn = newWaitingOn(r)
			}
		}
		if mayNeedApproval(r) {
			t.approvalSince, t.waitingOn = r.Time(), newWaitingOn(r)
		}
	}
}

// reachedStart takes the beginning of the file: nothing older follows. Versions up to 0.80 record neither start nor end of a
// turn (SEEN 0.42, 0.80). There an answer ends it; anything else may be in progress, cut or failed.
func (t *NewestTurn) reachedStart() {
	switch {
	case t.endedSilently:
		t.endedSilently = false
	case t.damaged:
	case t.State != discover.TurnUnknown:
	case t.lastPart == partOutput:
		t.State = discover.TurnDone
	case t.lastPart == partNone:
		t.State = discover.TurnNone
	}
}
