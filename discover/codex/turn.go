package codex

import (
	"slices"
	"time"

	"agentctl/discover"
)

// turn finds how the newest turn stands from the records of a rollout, newest first. The rule is that of Codex itself:
// the last of task_started (open), task_complete, turn_aborted and error (over) decides. Their turn ids need not
// match: a review's parent ends a turn that it never began.
type turn struct {
	discover.Turn
	// silent: the turn is over without an answer, and the version is too old to record an error. What stands before
	// the end decides whether it failed.
	silent bool
	// answered: the calls whose output has been seen, and they themselves not; call: the newest one without.
	answered []string
	call     string
	// noted: all calls are known that have no output.
	noted bool
	// asked is when a call without output was made that the person may be asked about; zero if there is none.
	asked time.Time
	// needsPerson is that call, or the newest one without output where it is a question.
	needsPerson *discover.WaitingOn
	// missed: a record that may have decided is damaged, so that nothing older does.
	missed bool
	// last is the newest record of a conversation, for files without any of the above.
	last step
}

func (t *turn) known() bool { return t.missed || t.State != discover.TurnUnknown && !t.silent }

// wants reports whether a record can tell more of the turn than which calls there were.
func (t *turn) wants(is kind) bool {
	switch is {
	case turnStarted, turnCompleted, turnAborted, turnFailed, reviewEntered:
		return !t.known()
	}
	return !t.known() && (t.silent || t.last == nothing) // any record of the conversation counts
}

// miss takes a damaged record. A turn that is over stays so; only how it ended may not be known then.
func (t *turn) miss() {
	if !t.known() {
		t.missed, t.silent = true, false
	}
}

// silence is the error of a turn that ended without an answer in a version (up to 0.130) that does not record why.
const silence = "the turn ended without an answer; this version of Codex does not record why"

// see takes the next older record. The first that is met of a turn's start and the settings that follow it tells when the
// newest turn began.
func (t *turn) see(r *record) {
	if !t.known() {
		t.decide(r)
	}
	if t.Began.IsZero() && begins(r.is) {
		t.Began = r.time()
	}
}

func begins(is kind) bool { return is == turnStarted || is == turnContext }

func (t *turn) decide(r *record) {
	if t.silent {
		t.settle(r.is)
		return
	}
	if t.last == nothing {
		t.last = r.is.step()
	}
	t.note(r)
	switch r.is {
	case turnStarted:
		t.open()
		t.Headless = r.get("turn_attribution").Object().Get("turn_trigger").Text(0) == "exec"
	case turnCompleted:
		t.complete(r)
	case turnAborted:
		t.State = discover.TurnInterrupted
	case turnFailed:
		t.State, t.Error = discover.TurnFailed, r.text()
	case reviewEntered:
		t.open()
	}
}

func (t *turn) open() {
	t.State = discover.TurnOpen
	if t.call != "" {
		t.Detail = "tool: " + t.call
	}
	if t.call == questionTool {
		t.State, t.WaitingFor, t.On = discover.TurnWaiting, "question", t.needsPerson
	}
}

func (t *turn) complete(r *record) {
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
	t.silent = !failed && !answer && !timed
}

// settle decides on a silent end by what stands before it: an answer that is due never came.
func (t *turn) settle(is kind) {
	step := is.step()
	if step == nothing && !begins(is) {
		return
	}
	t.silent = false
	if step == input || begins(is) {
		t.State, t.Error = discover.TurnFailed, silence
	}
}

// note remembers which call of a tool is still without its output. Of a record it looks at the beginning only. Calls that
// are made together stand together: what stands before the results of others was answered.
func (t *turn) note(r *record) {
	if t.noted || t.known() {
		return
	}
	switch r.is {
	case toolResult:
		if t.noted = t.call != ""; !t.noted {
			t.answered = append(t.answered, r.get("call_id").Text(0))
		}
	case toolCall:
		if i := slices.Index(t.answered, r.get("call_id").Text(0)); i >= 0 {
			t.answered = slices.Delete(t.answered, i, i+1)
			return
		}
		if t.call == "" {
			if t.call = r.get("name").Text(80); t.call == questionTool {
				t.needsPerson = waitingOn(r)
			}
		}
		if needsLeave(r) {
			t.asked, t.needsPerson = r.time(), waitingOn(r)
		}
	}
}

// end takes the beginning of the file: nothing older follows. Versions up to 0.80 record neither start nor end of a
// turn (SEEN 0.42, 0.80). There an answer ends it; anything else may be in progress, cut or failed.
func (t *turn) end() {
	switch {
	case t.silent:
		t.silent = false
	case t.missed:
	case t.State != discover.TurnUnknown:
	case t.last == output:
		t.State = discover.TurnDone
	case t.last == nothing:
		t.State = discover.TurnNone
	}
}
