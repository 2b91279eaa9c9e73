package transcript

import "iter"

// Rows reads the messages of one session and their parts. Databases (1.2 and later) and JSON files (before) have the same JSON.
// A row that cannot be read is left out, or its JSON is nil.
type Rows interface {
	// Oldest yields the messages from the oldest on.
	Oldest() iter.Seq[Row]
	// Newest yields the messages that are older than the cursor's, from the newest on; all of them for the zero cursor.
	Newest(before Cursor) iter.Seq[Row]
	// Parts yields the parts of a message, from the oldest on.
	Parts(message string) iter.Seq[Row]
	// PartsBefore yields the parts of the cursor's message that are older than its part, from the newest on.
	PartsBefore(c Cursor) iter.Seq[Row]
	// Failures returns how often a row could not be read so far.
	Failures() int
}

// Row is a stored message, or a stored part of one. It is valid until the next row of its kind is read.
type Row struct {
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
func (r Row) JSON() []byte {
	data, _ := r.Read()
	return data
}

// Cursor is a place among the messages of a session, or among the parts of one.
type Cursor struct {
	Time          int64 // of the message, in milliseconds; 0 if their IDs order the messages
	Message, Part string
}

// afterAllParts sorts after the ID of every part.
const afterAllParts = "~"

// HeadLimit is the number of characters of a row's JSON that show its kind.
const HeadLimit = 300

// Limits of the texts that are kept, in characters.
const (
	NameLimit   = 300       // of IDs and names
	PathLimit   = 4096      // of paths and titles; Linux has no longer paths
	ErrorLimit  = 2000      // of errors
	PromptLimit = 500       // of the first prompt; a record keeps fewer
	argLimit    = 128 << 10 // of a command, which is one argument of a process: Linux allows no longer ones
)
