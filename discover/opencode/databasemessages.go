package opencode

import (
	"fmt"
	"iter"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// messages returns the messages of a session.
func (d *database) messages(session string) transcript.Rows {
	return &databaseMessages{
		database: d, session: session,
		message: databaseRow{table: d.messageTable, kind: "message", path: d.path},
		part:    databaseRow{table: d.partTable, kind: "part", path: d.path},
	}
}

// databaseMessages implements [transcript.Rows] for a session of a database.
type databaseMessages struct {
	*database
	session       any         // its ID, as an argument of statements
	message, part databaseRow // the rows that were read last
}

// Oldest implements [transcript.Rows].
func (m *databaseMessages) Oldest() iter.Seq[transcript.Row] {
	return m.query(&m.message, `SELECT rowid FROM message WHERE session_id = ? ORDER BY time_created, id`, m.session)
}

const newestFirst = ` ORDER BY time_created DESC, id DESC`

// Newest implements [transcript.Rows].
func (m *databaseMessages) Newest(before transcript.Cursor) iter.Seq[transcript.Row] {
	if before.Message == "" {
		return m.query(&m.message, `SELECT rowid FROM message WHERE session_id = ?`+newestFirst, m.session)
	}
	const older = `SELECT rowid FROM message WHERE session_id = ? AND (time_created, id) < (?, ?)` + newestFirst
	return m.query(&m.message, older, m.session, before.Time, before.Message)
}

// Parts implements [transcript.Rows].
func (m *databaseMessages) Parts(message string) iter.Seq[transcript.Row] {
	return m.query(&m.part, `SELECT rowid FROM part WHERE message_id = ? ORDER BY id`, message)
}

// PartsBefore implements [transcript.Rows].
func (m *databaseMessages) PartsBefore(c transcript.Cursor) iter.Seq[transcript.Row] {
	return m.query(&m.part, `SELECT rowid FROM part WHERE message_id = ? AND id < ? ORDER BY id DESC`, c.Message, c.Part)
}

// query yields the rows that a statement finds, each as the given row.
func (m *databaseMessages) query(row *databaseRow, statement string, args ...any) iter.Seq[transcript.Row] {
	return func(yield func(transcript.Row) bool) {
		for found := range m.db.Query(statement, args...) {
			if row.Row = row.table.Row(found.Int("rowid")); row.Row != nil && !yield(row) {
				return
			}
		}
	}
}

// databaseRow implements [transcript.Row] for a row of a database.
type databaseRow struct {
	*sqlite.Row
	table      *sqlite.Table
	kind, path string // for warnings
}

// maxRow is the most bytes of a message or part that are read. Larger ones contain pasted files.
const maxRow = 16_000_000

func (r *databaseRow) ID() string     { return r.Row.Text("id", transcript.NameLimit) }
func (r *databaseRow) Created() int64 { return r.Row.Int("time_created") }
func (r *databaseRow) Updated() int64 { return r.Row.Int("time_updated") }
func (r *databaseRow) Head() []byte   { return r.Row.TextBytes("data", transcript.HeadLimit) }
func (r *databaseRow) JSON() []byte   { return r.Row.Bytes("data", maxRow) }

// Check implements [transcript.Row].
func (r *databaseRow) Check(json []byte) error {
	if jsonl.Object(json).Complete() {
		return nil
	}
	cause := errIncomplete
	if json == nil {
		cause = fsread.ErrTooLarge
	}
	return newWarning(r.path, fmt.Errorf("%s %s: %w", r.kind, r.ID(), cause))
}
