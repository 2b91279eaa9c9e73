package codex

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// questionTool is the tool by which the model asks the person something. Its call is open for as long as the question is
// shown (SEEN 0.169), or answered at once where the mode does not allow it.
const questionTool = "request_user_input"

// patience is the longest that a call can take which needs no leave: a command has a process by then, and a patch is
// applied.
const patience = time.Second

// needsLeave reports whether the person may be asked before a call is carried out: of a command that is to run outside of
// the sandbox, and of a patch, which Codex applies by itself also where the model writes it as a command (SEEN 0.169). The
// rest is run, or refused, without a question, or tells nothing.
func needsLeave(r *record) bool {
	switch r.get("name").Text(80) {
	case "exec_command", "shell_command", "shell":
		call, _ := callOf(r)
		return native.Object(call.Input).Get("sandbox_permissions").Text(80) == "require_escalated" ||
			strings.Contains(call.Brief, patchBegins)
	case "apply_patch":
		return true
	}
	return false
}

// waits is the turn, as far as it is told by how long a call has been open: asking for leave is not recorded (SEEN 0.104,
// 0.169). That a command of it runs is the process's to tell.
func (t *tail) waits(now time.Time) discover.Turn {
	turn := t.turn.Turn
	asks := t.context.approval != "" && t.context.approval != "never" && (t.context.reviewer == "" || t.context.reviewer == "user")
	if turn.State == discover.TurnOpen && asks && !t.turn.asked.IsZero() && now.Sub(t.turn.asked) > patience {
		turn.State, turn.WaitingFor, turn.Silent = discover.TurnWaiting, "permission", t.turn.asked
		turn.On = t.turn.needsPerson
	}
	return turn
}

// waitingOn is what the person is to be asked about a call. A patch names its files relative to the session's directory.
func waitingOn(r *record) *discover.WaitingOn {
	call, _ := callOf(r)
	path := ""
	if files := patched(call.Brief); len(files) == 1 {
		path = files[0]
	} else if files := patched(r.get("input").Text(0)); len(files) == 1 {
		path = files[0]
	}
	return discover.NewWaitingOn(call.Name, call.Brief, path, native.Questions(native.Object(call.Input)))
}
