package opencode

import "iter"

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
	// head is the beginning of the JSON, which shows what kind of row it is.
	head []byte
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
