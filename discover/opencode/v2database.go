package opencode

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/sqlite"
)

// OpenCode 2 stores sessions in tables of its own, in the database of OpenCode 1 if there is one. It leaves the older tables as they are, and
// copies their sessions once, with their IDs. All that this package knows of OpenCode 2 was read in its source, version 2.0.26, and not seen
// on the program: docs/agents/opencode.md.

// The tables of OpenCode 2. Version 1.18 has an empty one for messages, too: the table of sessions is the mark of OpenCode 2.
const (
	v2SessionTable = "session_v2"
	v2MessageTable = "session_message"
	v2InboxTable   = "session_inbox"
)

// v2Tables are the tables of OpenCode 2 in a database, beside that of sessions.
type v2Tables struct {
	messages *sqlite.Table // nil if there are no sessions of OpenCode 2 that can be read
	hasInbox bool
	failure  error // why they cannot be read
}

// errV2Schema means that a database has sessions of a version of OpenCode 2 that stores them in an unknown way.
var errV2Schema = errors.New("it has sessions of OpenCode 2 that agentctl cannot read")

// findV2Tables finds the tables of OpenCode 2. The error is that of a database which cannot be read at all.
func (d *database) findV2Tables(tables []string) error {
	if !slices.Contains(tables, v2SessionTable) {
		return nil
	}
	d.addSessionTable(v2SessionTable)
	messages := d.db.Table(v2MessageTable, "id", "session_id", "type", "seq", "time_created", "time_updated", "data")
	for _, t := range []struct {
		name    string
		table   *sqlite.Table
		columns []string
	}{
		{v2SessionTable, d.sessionTables[0].Table, []string{"id", "parent_id", "time_created", "time_updated"}},
		{v2MessageTable, messages, []string{"id", "session_id", "type", "seq", "data"}},
	} {
		for _, column := range t.columns {
			if !t.table.Has(column) {
				d.sessionTables = nil
				d.v2.failure = fmt.Errorf("%w: %s has no column %s", errV2Schema, t.name, column)
				if !slices.Contains(tables, v1SessionTable) {
					return d.v2.failure
				}
				return nil
			}
		}
	}
	d.v2 = v2Tables{messages: messages, hasInbox: slices.Contains(tables, v2InboxTable)}
	return nil
}

// isV2 reports whether OpenCode 2 has a session with this ID.
func (d *database) isV2(id string) bool {
	if d.v2.messages != nil {
		for range d.db.Query(`SELECT 1 FROM `+v2SessionTable+` WHERE id = ?`, id) {
			return true
		}
	}
	return false
}

// v2Session is what only OpenCode 2 stores of a session.
type v2Session struct {
	// claimed is when the turn in progress began. It is set in the transaction that begins a turn, and cleared in the one that ends it. A turn
	// whose server has ended keeps it, and so does one that ended because the user refused a call: the next service takes it up.
	claimed time.Time
	// attempts is how often a service has taken up the turn when it started.
	attempts int64
	// outcome is how the last turn that ended did: succeeded, failed or interrupted. It stays while the next turn runs.
	outcome string
	// workspace is the remote workspace that the session runs in; "" for this machine.
	workspace string
	// worked is when the newest message that shows the turn was last written.
	worked time.Time
}

// setV2 sets what only OpenCode 2 stores.
func (s *session) setV2(r *sqlite.Row) {
	s.v2 = &v2Session{
		claimed: fromMillis(r.Int("time_suspended")), attempts: r.Int("resume_attempts"),
		outcome: r.Text("idle_outcome", nameLimit), workspace: r.Text("workspace_id", nameLimit),
	}
	s.headless, s.ForkedFrom = false, r.Text("fork_session_id", nameLimit)
	s.SetMeta("store", v2SessionTable)
	if !s.v2.claimed.IsZero() {
		s.SetMeta("claimed", true)
	}
	s.SetMeta("workspace", s.v2.workspace)
	if ended := fromMillis(r.Int("time_idle")); ended.After(s.Updated) {
		s.Updated = ended
	}
}

// addInbox adds the prompts that OpenCode 2 has accepted and not delivered yet.
func (d *database) addInbox(s *session) {
	if !d.v2.hasInbox {
		return
	}
	for r := range d.db.Query(`SELECT count(*) AS n, max(time_created) AS at FROM `+v2InboxTable+` WHERE session_id = ?`, s.ID) {
		if n := r.Int("n"); n > 0 {
			s.SetMeta("queued", n)
		}
		if at := fromMillis(r.Int("at")); at.After(s.Updated) {
			s.Updated = at
		}
	}
}

// claimedSessions returns the sessions whose turn is recorded as being in progress.
func (d *database) claimedSessions() []string {
	if d.v2.messages == nil || !d.sessionTables[0].Has("time_suspended") {
		return nil
	}
	return d.ids(`SELECT id FROM ` + v2SessionTable + ` WHERE time_suspended IS NOT NULL`)
}

// v2Messages implements [rowReader] for a session of OpenCode 2. Its messages have no parts.
type v2Messages struct {
	*database
	session any // its ID, as an argument of statements
}

// Oldest implements [rowReader].
func (m v2Messages) Oldest() iter.Seq[storedRow] {
	return m.query(m.v2.messages, "message", `SELECT rowid FROM `+v2MessageTable+` WHERE session_id = ? ORDER BY seq`, m.session)
}

// Newest implements [rowReader].
func (m v2Messages) Newest(before cursor) iter.Seq[storedRow] {
	end := int64(math.MaxInt64)
	if before.Message != "" {
		end = before.Time
	}
	const older = `SELECT rowid FROM ` + v2MessageTable + ` WHERE session_id = ? AND seq < ? ORDER BY seq DESC`
	return m.query(m.v2.messages, "message", older, m.session, end)
}

// Parts implements [rowReader].
func (v2Messages) Parts(string) iter.Seq[storedRow] { return func(func(storedRow) bool) {} }

// PartsBefore implements [rowReader].
func (v2Messages) PartsBefore(cursor) iter.Seq[storedRow] { return func(func(storedRow) bool) {} }

// maxNewestRows bounds how many of the newest messages are searched for one that shows the state of the turn.
const maxNewestRows = 200

// readV2Turn reads the newest messages, which show the turn together with the row of the session.
func (s *session) readV2Turn(rows rowReader) {
	before, n := rows.Failures(), 0
	var newest v2Message // that shows the state of the turn
	asked := ""          // the prompt, if nothing follows it
	for r := range rows.Newest(cursor{}) {
		if at := fromMillis(r.Updated); at.After(s.Updated) {
			s.Updated = at
		}
		if n++; n > maxNewestRows {
			break
		}
		if !isTurnType(r.Type) {
			continue
		}
		m := parseV2Message(r)
		if newest.kind == "" {
			newest, s.v2.worked = m, fromMillis(r.Updated)
			if r.Type == userRole {
				asked = promptText(v2Words(r.JSON()))
			}
		}
		if m.kind == idleType {
			continue // it ends a turn, whose answer precedes it
		}
		s.tail.Last, s.tail.parts = &m.storedMessage, m.parts
		break
	}
	if rows.Failures() == before {
		s.Turn = s.v2Turn(newest)
	}
	if s.Turn.State == discover.TurnOpen {
		s.Turn.Prompt = asked
	}
	s.Turn.Began = s.v2.claimed
	if newest.kind == userRole && s.v2.claimed.IsZero() {
		s.Turn.Began = fromMillis(newest.Created)
	}
}

// v2Turn returns the newest turn, as far as storage shows it.
func (s *session) v2Turn(newest v2Message) discover.Turn {
	if !s.v2.claimed.IsZero() {
		return newest.openTurn()
	}
	switch s.v2.outcome {
	case "":
		return newest.copiedTurn()
	case outcomeFailed:
		text := newest.errText
		if s.tail.Last != nil && text == "" {
			text = s.tail.Last.errText
		}
		return discover.Turn{State: discover.TurnFailed, Error: discover.Truncate(text, errorLimit)}
	}
	return discover.Turn{State: outcomeState(s.v2.outcome)}
}
