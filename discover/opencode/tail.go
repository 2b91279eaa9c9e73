package opencode

import "time"

// tail is the last message of a session, with its parts if they tell more about the turn.
type tail struct {
	Last *storedMessage // nil if there is none
	// OpenAnswer is the tail without the messages that the user has sent during an answer which has not ended; nil if there are none. A
	// process that was killed leaves its last answer open forever, so it counts only for the process that writes it.
	OpenAnswer *tail
	// endedBy is the tail without the messages that the user has sent during an answer which has ended the turn: it failed, was aborted, or the
	// user refused a call of it. The agent leaves these messages to the next prompt (SEEN, READ 1.18.33). It is nil if there are none.
	endedBy *tail
	parts   []part
	// active is when the session last changed, by the parts, in milliseconds; 0 if the parts were not read.
	active int64
	// unread: the last message, or a part of it, could not be read.
	unread bool
}

// readTail reads the last message.
func readTail(rows rowReader) (t tail) {
	before := rows.Failures()
	for r := range rows.Newest(cursor{}) {
		last := parseRow(r, r.JSON())
		if t.Last = &last; last.needsParts() {
			t.readParts(rows, r.Updated)
		} else if last.Role == userRole {
			t.readAnswerBefore(rows, max(last.Created, r.Updated))
		}
		break
	}
	t.unread = rows.Failures() > before
	return t
}

// readAnswerBefore reads the answer before the user's last messages, the newest of which was stored at the given time. It reads only the
// heads of these.
func (t *tail) readAnswerBefore(rows rowReader, stored int64) {
	users := 0
	for r := range rows.Newest(cursor{}) {
		if parseRow(r, r.head).Role == userRole {
			if users++; users > maxDelayed {
				return
			}
			continue
		}
		answer := parseRow(r, r.JSON())
		if answer.Role != assistantRole || answer.Completed == 0 && answer.failed || answer.Completed > 0 && answer.Completed < stored {
			return
		}
		before := &tail{Last: &answer}
		if answer.needsParts() {
			before.readParts(rows, r.Updated)
		}
		if answer.Completed == 0 {
			t.OpenAnswer = before
		} else if before.ended() {
			t.endedBy = before
		}
		return
	}
}

// ended reports whether the agent goes on after a completed answer only if it is asked again, whatever the user has sent during the answer.
func (t *tail) ended() bool { return t.Last.failed || t.refused() }

// needsParts reports whether the parts of the last message tell more about the turn than the message does.
func (m *storedMessage) needsParts() bool {
	return m.Role == assistantRole && !m.failed && (m.Completed == 0 || m.finishReason == finishToolCalls)
}

// readParts reads the parts of the last message, whose row was updated at the given time. A running tool updates only the row of
// its part, which shows that the session is active. A migration gives all rows the same time, which shows nothing (SEEN 1.2.1).
func (t *tail) readParts(rows rowReader, updated int64) {
	for r := range rows.Parts(t.Last.ID) {
		data := r.JSON()
		if data == nil {
			continue
		}
		p := parsePart(data)
		t.parts = append(t.parts, p)
		t.active = max(t.active, p.Started)
		if at := r.Updated; at > updated {
			t.active = max(t.active, at)
		}
	}
}

// Updated returns when the last message, or a part of it, last changed; zero if that is not known.
func (t *tail) Updated() time.Time {
	if t.Last == nil {
		return time.Time{}
	}
	active := t.active
	if t.OpenAnswer != nil {
		active = max(active, t.OpenAnswer.active)
	}
	if t.endedBy != nil {
		active = max(active, t.endedBy.Last.Completed)
	}
	return fromMillis(max(t.Last.Created, t.Last.Completed, active))
}

// RunningTools returns the tool calls of the last message that have not ended.
func (t *tail) RunningTools() (running []part) {
	if t.Last != nil && t.Last.Completed == 0 && !t.Last.failed {
		for _, p := range t.parts {
			if p.running() {
				running = append(running, p)
			}
		}
	}
	return running
}
