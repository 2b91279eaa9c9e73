package transcript

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// questionTool is the tool by which the model asks the person something. Its call is open for as long as the question is
// shown (SEEN 0.169), or answered at once where the mode does not allow it.
const questionTool = "request_user_input"

// approvalDelay is the longest that a call can take which needs no leave: a command has a process by then, and a patch is
// applied.
const approvalDelay = time.Second

// mayNeedApproval reports whether the person may be asked before a call is carried out: of a command that is to run outside of
// the sandbox, and of a patch, which Codex applies by itself also where the model writes it as a command (SEEN 0.169). The
// rest is run, or refused, without a question, or tells nothing.
func mayNeedApproval(r *Record) bool {
	switch r.Get("name").Text(80) {
	case "exec_command", "shell_command", "shell":
		call, _ := ParseToolCall(r)
		return jsonl.Object(call.Input).Get("sandbox_permissions").Text(80) == "require_escalated" ||
			strings.Contains(call.Summary, patchHeader)
	case "apply_patch":
		return true
	}
	return false
}

// Turn is the turn, as far as it is told by how long a call has been open: asking for leave is not recorded (SEEN 0.104,
// 0.169). That a command of it runs is the process's to tell.
func (t *Tail) Turn(now time.Time) discover.Turn {
	turn := t.turn.Turn
	asks := t.Settings.Approval != "" && t.Settings.Approval != "never" && (t.Settings.Reviewer == "" || t.Settings.Reviewer == "user")
	if turn.State == discover.TurnOpen && asks && !t.turn.approvalSince.IsZero() && now.Sub(t.turn.approvalSince) > approvalDelay {
		turn.State, turn.WaitingFor, turn.SilentSince = discover.TurnWaiting, "permission", t.turn.approvalSince
		turn.WaitingOn = t.turn.waitingOn
	}
	return turn
}

// newWaitingOn is what the person is to be asked about a call. A patch names its files relative to the session's directory.
func newWaitingOn(r *Record) *discover.WaitingOn {
	call, _ := ParseToolCall(r)
	path := ""
	if files := patchedFiles(call.Summary); len(files) == 1 {
		path = files[0]
	} else if files := patchedFiles(r.Get("input").Text(0)); len(files) == 1 {
		path = files[0]
	}
	return discover.NewWaitingOn(call.Name, call.Summary, path, native.Questions(jsonl.Object(call.Input)))
}
