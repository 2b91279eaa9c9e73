package opencode

import (
	"fmt"
	"iter"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
)

// databaseMessages implements [rowReader] for a session of a database.
type databaseMessages struct {
	*database
	session any // its ID, as an argument of statements
}

// messages returns the messages of a session.
func (d *database) messages(session string) rowReader { return databaseMessages{d, session} }

// Oldest implements [rowReader].
func (m databaseMessages) Oldest() iter.Seq[storedRow] {
	return m.query(m.messageTable, "message", `SELECT rowid FROM message WHERE session_id = ? ORDER BY time_created, id`, m.session)
}

// Newest implements [rowReader].
func (m databaseMessages) Newest(before cursor) iter.Seq[storedRow] {
	const newestFirst = ` ORDER BY time_created DESC, id DESC`
	if before.Message == "" {
		return m.query(m.messageTable, "message", `SELECT rowid FROM message WHERE session_id = ?`+newestFirst, m.session)
	}
	const older = `SELECT rowid FROM message WHERE session_id = ? AND (time_created, id) < (?, ?)` + newestFirst
	return m.query(m.messageTable, "message", older, m.session, before.Time, before.Message)
}

// Parts implements [rowReader].
func (m databaseMessages) Parts(message string) iter.Seq[storedRow] {
	return m.query(m.partTable, "part", `SELECT rowid FROM part WHERE message_id = ? ORDER BY id`, message)
}

// PartsBefore implements [rowReader].
func (m databaseMessages) PartsBefore(c cursor) iter.Seq[storedRow] {
	return m.query(m.partTable, "part", `SELECT rowid FROM part WHERE message_id = ? AND id < ? ORDER BY id DESC`, c.Message, c.Part)
}

// maxRow is the most bytes of a message or part that are read. Larger ones contain pasted files.
const maxRow = 16_000_000

// query yields the rows that a statement finds.
func (d *database) query(table *sqlite.Table, kind, statement string, args ...any) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		for r := range d.rows(table, statement, args...) {
			id := r.Text("id", nameLimit)
			read := func() ([]byte, error) {
				data := r.Bytes("data", maxRow)
				if jsonl.Object(data).Complete() {
					return data, nil
				}
				cause := errIncomplete
				if data == nil {
					cause = fsread.ErrTooLarge
				}
				return data, newWarning(d.path, fmt.Errorf("%s %s: %w", kind, id, cause))
			}
			head := r.TextBytes("data", headLimit)
			if !yield(storedRow{ID: id, Created: r.Int("time_created"), Updated: r.Int("time_updated"), head: head, Read: read}) {
				return
			}
		}
	}
}
