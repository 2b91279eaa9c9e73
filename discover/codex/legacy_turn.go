package codex

import "agentctl/discover"

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
