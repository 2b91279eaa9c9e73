package codex

import (
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

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
		call, _ := parseToolCall(r)
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
		t.State, t.WaitingFor, t.WaitingOn = discover.TurnWaiting, "question", t.questionCall
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
	return turn
}

// newWaitingOn describes the call that the user is asked about. The paths in a patch are relative to the session's directory.
func newWaitingOn(r *rolloutRecord) *discover.WaitingOn {
	call, _ := parseToolCall(r)
	patch := storage.ParsePatch(call.Brief)
	if len(patch.Files) == 0 {
		patch = storage.ParsePatch(r.Get("input").Text(0))
	}
	path := ""
	if len(patch.Files) == 1 {
		path = patch.Files[0]
	}
	on := discover.NewWaitingOn(call.Name, call.Brief, path, storage.Questions(storage.Object(call.Input)))
	if len(patch.Files) > 0 {
		on.Diff = discover.NewDiff(patch.Added, patch.Removed, !patch.DeletesFiles)
	}
	return on
}
