package opencode

import (
	"cmp"
	"context"
	"iter"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// Messages implements [discover.MessageReader]. It reads from the end: some messages of a database at a time, or file by file.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	if isLegacyPath(r.Path) {
		return inTimeOrder(func(yield func(transcriptItem) bool) {
			var reader messageReader
			reader.Read(newLegacyMessages(ctx, r.Path, r.ID), yield)
		})
	}
	return inTimeOrder(databaseItems(ctx, r))
}

// One reading of a database takes some messages: the first as many as most callers ask for, later ones more. The limit of bytes bounds
// memory.
const (
	firstBatch    = 24
	maxBatch      = 400
	maxBatchBytes = 4 << 20
)

// messageBatch is what one reading of a database takes of a session's messages.
type messageBatch struct {
	reader messageReader // continues where the batch ends
	items  []transcriptItem
	done   bool // there are no older messages
}

// next reads the messages before those that an earlier batch has read.
func (b messageBatch) next(rows rowReader, limit int) *messageBatch {
	next := &messageBatch{reader: b.reader}
	next.done = next.reader.Read(rows, func(m transcriptItem) bool {
		next.items = append(next.items, m)
		return len(next.items) < limit && next.reader.Bytes-b.reader.Bytes < maxBatchBytes
	})
	return next
}

// databaseItems yields the messages of a session of a database, newest first. Each batch is complete before any of it is yielded: a
// writer may disturb the reading, which then begins again, and the caller may take its time.
func databaseItems(ctx context.Context, r discover.Record) iter.Seq[transcriptItem] {
	return func(yield func(transcriptItem) bool) {
		var last messageBatch
		for limit := firstBatch; !last.done; limit = min(2*limit, maxBatch) {
			b, err := readDatabase(ctx, r.Home, r.Path, func(d *database) *messageBatch { return last.next(d.messages(r.ID), limit) })
			if b == nil { // there are no tables any more, or they cannot be read
				b = &messageBatch{done: true}
			}
			if err != nil {
				b.items = append(b.items, transcriptItem{Err: err})
			}
			for _, m := range b.items {
				if !yield(m) {
					return
				}
			}
			last = messageBatch{reader: b.reader, done: b.done}
		}
	}
}

// maxDelayed is the largest number of the user's messages that are held back at a time.
const maxDelayed = 100

// inTimeOrder sorts messages, given newest first in the order of storage, by time. A message that the user sends during an answer is
// stored after the whole answer. inTimeOrder holds the user's messages back until it reaches an older part of an answer. The agent writes
// one answer at a time, so a message can only be inside of the last answer that began before it.
func inTimeOrder(items iter.Seq[transcriptItem]) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		var held []discover.Message // the user's, newest first
		release := func(since time.Time) bool {
			for len(held) > 0 && !held[0].Time.Before(since) {
				if !yield(held[0], nil) {
					return false
				}
				held = held[1:]
			}
			return true
		}
		answer := "" // the one that the held messages may belong into
		for m := range items {
			if m.Err != nil {
				if !yield(discover.Message{}, m.Err) {
					return
				}
				continue
			}
			if m.answer == "" {
				if held = append(held, m.Message); len(held) > maxDelayed && !release(held[0].Time) {
					return
				}
				continue
			}
			since := m.Time
			if answer != "" && answer != m.answer {
				since = time.Time{} // an older answer: all held messages are newer
			}
			if answer = m.answer; !release(since) || !yield(m.Message, nil) {
				return
			}
			if len(held) == 0 {
				answer = ""
			}
		}
		release(time.Time{})
	}
}

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
	m := parseRow(row, row.Head)
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
		if isHiddenType(partType(jsonl.Object(row.Head))) {
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

// messageBuilder makes the messages of `logs` from stored messages and their parts, from the newest to the oldest. Each part that
// belongs to the conversation becomes one, and so does the error of an answer.
type messageBuilder struct {
	storedMessage        // whose parts follow
	counted       bool   // its tokens are in a newer part's message
	shellCommand  bool   // an answer that no model wrote: it has the user's own command
	summaryOf     string // the message that requested the newest compaction
}

// begin begins a message. It searches the message's parent for a shell note only if no model seems to have written the message.
func (b *messageBuilder) begin(m storedMessage, rows rowReader) {
	if b.summary {
		b.summaryOf = b.parentID
	}
	b.storedMessage, b.counted = m, false
	b.shellCommand = m.Role == assistantRole && m.finishReason == "" && m.tokens.Total == 0 && m.parentID != "" && hasShellNote(rows, m.parentID)
}

// hasShellNote reports whether the first part of a message is a shell note.
func hasShellNote(rows rowReader, message string) bool {
	for r := range rows.Parts(message) {
		return parsePart(r.JSON()).isShellNote()
	}
	return false
}

// isConversation reports whether the user or the model wrote the message.
func (b *messageBuilder) isConversation() bool { return b.Role == userRole || b.Role == assistantRole }

// newItem makes a message of the current one, or of a part of it. The newest part of an answer has its tokens.
func (b *messageBuilder) newItem(id string, kind discover.MessageKind, at int64, text string) transcriptItem {
	m := transcriptItem{Message: discover.Message{ID: id, Role: discover.RoleUser, Kind: kind, Time: fromMillis(cmp.Or(at, b.Created)), Text: text}}
	if b.Role == assistantRole {
		m.answer = b.ID
		if b.shellCommand {
			return m
		}
		m.Role, m.Model = discover.RoleAssistant, b.Model
		if b.tokens.Total > 0 && !b.counted {
			tokens := b.tokens
			m.Tokens, b.counted = &tokens, true
		}
	}
	if kind != discover.KindText && kind != discover.KindTool {
		m.Role = discover.RoleSystem
	}
	return m
}

// failure returns the error or the interruption that ended an answer.
func (b *messageBuilder) failure() (m transcriptItem, ok bool) {
	if !b.failed {
		return m, false
	}
	kind := discover.KindError
	if b.errName == abortedName {
		kind = discover.KindInterruption
	}
	return b.newItem(b.ID, kind, b.Completed, cmp.Or(b.errText, b.errName)), true
}

// part makes a message of a part. Thoughts, steps, snapshots, patches and attachments make none, and neither do texts that the agent added.
func (b *messageBuilder) part(id string, o jsonl.Object) (m transcriptItem, ok bool) {
	switch partType(o) {
	case "text":
		return b.text(id, o)
	case "tool":
		return b.tool(id, o), true
	case "subtask": // the user's command to a sub-agent
		return b.newItem(id, discover.KindText, 0, o.Get("prompt").Text(0)), true
	case "compaction":
		return b.newItem(id, discover.KindCompaction, 0, ""), b.ID != b.summaryOf
	}
	return m, false
}

// text makes a message of a text. An empty text makes none: 1.1.65 stores a text while it grows, 1.18.33 only when it is complete (SEEN).
func (b *messageBuilder) text(id string, o jsonl.Object) (m transcriptItem, ok bool) {
	for _, hidden := range [...]string{"synthetic", "ignored"} {
		if string(o.Get(hidden).Raw()) == "true" {
			return m, false
		}
	}
	text, times := o.Get("text").Text(0), o.Get("time").Object()
	at := cmp.Or(times.Get("end").Int(), times.Get("start").Int())
	kind := discover.KindText
	if b.summary {
		kind = discover.KindCompaction
	}
	return b.newItem(id, kind, at, text), text != ""
}
