package opencode

import (
	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// transcriptItem is a message in the order of storage, or a warning about what could not be read there.
type transcriptItem struct {
	discover.Message
	Err    error
	answer string // the ID of the answer that the message is a part of; "" for the user's messages
}

// messageReader reads the messages of a session from the newest to the oldest. A copy of it continues where the original was when it
// was copied.
type messageReader struct {
	builder messageBuilder
	cursor  cursor // the message and part that were read last
	// Bytes is how much JSON was read so far.
	Bytes int
}

// Read visits the messages that it has not read so far, down to the oldest or until visit returns false. done is true if there are no
// others.
func (r *messageReader) Read(rows rowReader, visit func(transcriptItem) bool) (done bool) {
	messages := rows.Newest(r.cursor)
	if !r.readParts(rows, visit) {
		return false
	}
	for row := range messages {
		if !r.readMessage(rows, row, visit) || !r.readParts(rows, visit) {
			return false
		}
	}
	return true
}

// readMessage begins a message. It reads only the head of the user's messages: they may contain whole files that changed.
func (r *messageReader) readMessage(rows rowReader, row storedRow, visit func(transcriptItem) bool) bool {
	m := parseRow(row, row.head)
	var warning error
	if m.Role != userRole {
		var data []byte
		data, warning = row.Read()
		m = parseRow(row, data)
		r.Bytes += len(data)
	}
	r.cursor = cursor{Time: row.Created, Message: m.ID, Part: afterAllParts}
	r.builder.begin(m, rows)
	if warning != nil && !visit(transcriptItem{Err: warning}) {
		return false
	}
	failure, failed := r.builder.failure()
	return !failed || visit(failure)
}

// readParts reads the parts of the current message that are older than the cursor.
func (r *messageReader) readParts(rows rowReader, visit func(transcriptItem) bool) bool {
	if r.cursor.Part == "" || !r.builder.isConversation() {
		return true
	}
	for row := range rows.PartsBefore(r.cursor) {
		r.cursor.Part = row.ID
		if isHiddenType(partType(jsonl.Object(row.head))) {
			continue
		}
		if item, ok := r.readPart(row); ok && !visit(item) {
			return false
		}
	}
	r.cursor.Part = ""
	return true
}

// readPart makes a message of a part. A part whose end is missing is only a warning.
func (r *messageReader) readPart(row storedRow) (item transcriptItem, ok bool) {
	data, err := row.Read()
	r.Bytes += len(data)
	if err != nil || data == nil {
		return transcriptItem{Err: err}, err != nil
	}
	return r.builder.part(row.ID, data)
}
