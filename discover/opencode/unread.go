package opencode

// maxUnreadRows bounds how many messages [isUnread] reads: the newest ones.
const maxUnreadRows = 200

// isUnread reports whether the model may never get a stored message of the user, which has the part with this ID. inTurn: a process works on
// the session, or waits for the user.
//
// At the beginning of each step of a turn, the agent reads the messages, and stores the answer below the newest one of the user. It leaves
// a message that is stored later to the next prompt: 1.1.65 if the step is the last one (SEEN, READ), 1.18.33 if that step has ended
// too, and the turn is about to (READ).
func isUnread(rows rowReader, part string, inTurn bool) bool {
	answered := map[string]bool{} // the messages of the user that have an answer
	var last *storedMessage       // the newest answer
	isBefore := false             // it began before the message was stored
	found, n := false, 0
	for r := range rows.Newest(cursor{}) {
		m := parseRow(r, r.JSON())
		if n++; n > maxUnreadRows {
			return false
		}
		if m.Role == userRole && !found {
			if answered[m.ID] { // which is the message, or a newer one
				return false
			}
			found = hasPart(rows, m.ID, part)
		}
		if m.Role != assistantRole {
			continue
		}
		if answered[m.parentID] = true; last == nil {
			last, isBefore = &m, found
		}
		if found {
			break
		}
	}
	if !found || !inTurn || last == nil || last.failed {
		return found
	}
	return last.finishReason != finishToolCalls && !(isBefore && last.Completed == 0)
}

// hasPart reports whether a message has the part with this ID.
func hasPart(rows rowReader, message, part string) bool {
	for r := range rows.Parts(message) {
		if r.ID == part {
			return true
		}
	}
	return false
}
