package opencode

import (
	"fmt"
	"iter"

	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
)

// rowReader reads the messages of one session and their parts. Databases (1.2 and later) and JSON files (before) have the same JSON.
// A row that cannot be read is left out, or its JSON is nil.
type rowReader interface {
	// Oldest yields the messages from the oldest on.
	Oldest() iter.Seq[storedRow]
	// Newest yields the messages that are older than the cursor's, from the newest on; all of them for the zero cursor.
	Newest(before cursor) iter.Seq[storedRow]
	// Parts yields the parts of a message, from the oldest on.
	Parts(message string) iter.Seq[storedRow]
	// PartsBefore yields the parts of the cursor's message that are older than its part, from the newest on.
	PartsBefore(c cursor) iter.Seq[storedRow]
	// Failures returns how often a row could not be read so far.
	Failures() int
}

// storedRow is a stored message, or a stored part of one. It is valid until the next row of its kind is read.
type storedRow struct {
	ID string
	// Created and Updated are in milliseconds since 1970, and 0 if only the JSON has times.
	Created, Updated int64
	// Head is the beginning of the JSON, which shows what kind of row it is.
	Head []byte
	// Read returns the whole JSON; nil if it cannot be read or is too large. The error is a warning about JSON that is missing or incomplete; a
	// row that has vanished needs none.
	Read func() ([]byte, error)
}

// JSON returns the whole JSON; nil if it cannot be read.
func (r storedRow) JSON() []byte {
	data, _ := r.Read()
	return data
}

// cursor is a place among the messages of a session, or among the parts of one.
type cursor struct {
	Time          int64 // of the message, in milliseconds; 0 if their IDs order the messages
	Message, Part string
}

// afterAllParts sorts after the ID of every part.
const afterAllParts = "~"

// headLimit is the number of characters of a row's JSON that show its kind.
const headLimit = 300

// Limits of the texts that are kept, in characters.
const (
	nameLimit   = 300       // of IDs and names
	pathLimit   = 4096      // of paths and titles; Linux has no longer paths
	errorLimit  = 2000      // of errors
	promptLimit = 500       // of the first prompt; a record keeps fewer
	argLimit    = 128 << 10 // of a command, which is one argument of a process: Linux allows no longer ones
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
				if storage.Object(data).Complete() {
					return data, nil
				}
				cause := errIncomplete
				if data == nil {
					cause = storage.ErrTooLarge
				}
				return data, newWarning(d.path, fmt.Errorf("%s %s: %w", kind, id, cause))
			}
			head := r.TextBytes("data", headLimit)
			if !yield(storedRow{ID: id, Created: r.Int("time_created"), Updated: r.Int("time_updated"), Head: head, Read: read}) {
				return
			}
		}
	}
}
