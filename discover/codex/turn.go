package codex

import (
	"bytes"
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

// step is what a record contributes to the conversation.
type step uint8

const (
	nothing step = iota
	input        // the person's words or a tool's output: the model's answer is due
	output       // the model's answer
	call         // the model's call of a tool
)

func (t *turn) known() bool { return t.missed || t.State != discover.TurnUnknown && !t.silent }

// wants reports whether a record can tell more of the turn than which calls there were. A turn may have megabytes of what
// cannot, and they are not gone over.
func (t *turn) wants(e *event) bool {
	switch {
	case t.known():
		return false
	case t.silent || t.last == nothing: // any record of the conversation counts
		return true
	case string(e.kind) == "response_item", string(e.kind) == "compacted":
		return false
	case string(e.name) == "item_completed":
		return bytes.Contains(e.payload, []byte(`"EnteredReviewMode"`))
	}
	return string(e.kind) != "event_msg" || decides(e.name)
}

// decides reports whether an event tells how the turn stands.
func decides(name []byte) bool {
	switch string(name) {
	case "task_started", "task_complete", "turn_aborted", "error", "entered_review_mode":
		return true
	}
	return false
}

// miss takes a damaged record. A turn that is over stays so; only how it ended may not be known then.
func (t *turn) miss() {
	if !t.known() {
		t.missed, t.silent = true, false
	}
}

// silence is the error of a turn that ended without an answer in a version (up to 0.130) that does not record why.
const silence = "the turn ended without an answer; this version of Codex does not record why"

// see takes the next older record.
func (t *turn) see(e *event, id string) {
	if t.known() {
		return
	}
	s := stepOf(e)
	if t.silent {
		t.settle(e, s)
		return
	}
	if t.last == nothing {
		t.last = s
	}
	t.note(e)
	switch string(e.name) {
	case "task_started":
		t.open()
		t.Headless = e.get("turn_attribution").Object().Get("turn_trigger").Text(0) == "exec"
	case "task_complete":
		t.complete(e)
	case "turn_aborted":
		t.State = discover.TurnInterrupted
	case "error":
		t.State, t.Error = discover.TurnFailed, e.get("message").Text(0)
	case "entered_review_mode":
		t.open()
	case "item_completed":
		if _, kind := e.item(); kind == "EnteredReviewMode" && !e.foreign(id) {
			t.open()
		}
	}
}

// date takes the moment in which the newest turn began from the first of its records that is met: the start, or the
// settings that follow it.
func (t *turn) date(e *event) {
	if t.Began.IsZero() && (string(e.kind) == "turn_context" || string(e.name) == "task_started") {
		t.Began = e.time()
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

func (t *turn) complete(e *event) {
	var answer, failed, timed bool
	for key, value := range e.payload.Members() {
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
func (t *turn) settle(e *event, s step) {
	started := string(e.name) == "task_started" || string(e.kind) == "turn_context"
	if s == nothing && !started {
		return
	}
	t.silent = false
	if s == input || started {
		t.State, t.Error = discover.TurnFailed, silence
	}
}

// note remembers which call of a tool is still without its output. Of a record it looks at the beginning only. Calls that
// are made together stand together: what stands before the results of others was answered.
func (t *turn) note(e *event) {
	if string(e.kind) != "response_item" || t.noted || t.known() {
		return
	}
	switch string(e.name) {
	case "function_call_output", "custom_tool_call_output":
		if t.noted = t.call != ""; !t.noted {
			t.answered = append(t.answered, e.get("call_id").Text(0))
		}
	case "function_call", "custom_tool_call":
		if i := slices.Index(t.answered, e.get("call_id").Text(0)); i >= 0 {
			t.answered = slices.Delete(t.answered, i, i+1)
			return
		}
		if t.call == "" {
			if t.call = e.get("name").Text(80); t.call == questionTool {
				t.needsPerson = waitingOn(e)
			}
		}
		if needsLeave(e) {
			t.asked, t.needsPerson = e.time(), waitingOn(e)
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

// stepOf tells what a record contributes. The agent's own additions to the conversation are user messages too.
func stepOf(e *event) step {
	switch string(e.name) {
	case "user_message", "function_call_output", "custom_tool_call_output":
		return input
	case "agent_message", "context_compacted", "exited_review_mode":
		return output
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "reasoning", "agent_reasoning":
		return call
	case "message":
		if e.get("role").Text(0) == "assistant" {
			return output
		}
	case "item_completed":
		switch _, kind := e.item(); kind {
		case "UserMessage":
			return input
		case "AgentMessage", "ContextCompaction", "ExitedReviewMode":
			return output
		}
	}
	if string(e.kind) == "compacted" {
		return output
	}
	return nothing
}
