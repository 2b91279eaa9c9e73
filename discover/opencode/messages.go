package opencode

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Messages implements [discover.Adapter]. It reads from the end: some messages of a database at a time, or file by file.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	if isLegacyPath(r.Path) {
		return inTimeOrder(func(yield func(transcriptItem) bool) {
			var m messageReader
			m.add = func(item transcriptItem) { m.stopped = m.stopped || !yield(item) }
			m.Read(newLegacyMessages(ctx, r.Path, r.ID))
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

// databaseItems yields the messages of a session of a database, newest first. Each batch is complete before any of it is yielded: a
// writer may disturb the reading, which then begins again, and the caller may take its time.
func databaseItems(ctx context.Context, r discover.Record) iter.Seq[transcriptItem] {
	return func(yield func(transcriptItem) bool) {
		last := new(messageBatch)
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
			last = b
		}
	}
}

// messageBatch is some messages of a session.
type messageBatch struct {
	reader messageReader // continues where the batch ends
	items  []transcriptItem
	done   bool // there are no older messages
}

// next reads the messages that follow the batch. It can be called again, with the same result.
func (b *messageBatch) next(rows rowReader, limit int) *messageBatch {
	n := &messageBatch{reader: b.reader}
	m := &n.reader
	m.answered, m.late = maps.Clone(m.answered), maps.Clone(m.late)
	m.stopped, m.add = false, func(item transcriptItem) {
		n.items = append(n.items, item)
		m.stopped = len(n.items) >= limit || m.Bytes-b.reader.Bytes >= maxBatchBytes
	}
	n.done = m.Read(rows)
	return n
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

// messageReader reads the messages of a session from the newest to the oldest. Each part that belongs to the conversation becomes one, and so
// does the error of an answer.
type messageReader struct {
	// add takes each message. It may set stopped: then the reader stops soon, after some more at the most.
	add     func(transcriptItem)
	stopped bool

	storedMessage                 // whose parts follow
	counted       bool            // its tokens are in a newer part's message
	shellCommand  bool            // an answer that no model wrote: it has the user's own command
	filesSeen     bool            // of a message of the user
	summaryOf     string          // the message that requested the newest compaction
	cursor        cursor          // the message and part that were read last
	idle          *transcriptItem // how OpenCode 2 says that a turn ended, unless the answer before it, which follows, says so
	// answered are the messages of the user to which an answer was read. late are answers that were read out of their place.
	answered, late map[string]bool
	// Bytes is how much JSON was read so far.
	Bytes int
}

// Read reads the messages that it has not read so far, down to the oldest or until it is stopped. done is true if there are no others.
func (m *messageReader) Read(rows rowReader) (done bool) {
	if v2, ok := rows.(v2Messages); ok {
		return m.readV2(v2)
	}
	if m.answered == nil {
		m.answered, m.late = map[string]bool{}, map[string]bool{}
	}
	messages := rows.Newest(m.cursor)
	m.readParts(rows, false)
	for row := range messages {
		if m.stopped {
			break
		}
		if m.late[row.ID] {
			delete(m.late, row.ID) // it does not come again
			continue
		}
		// If no answer to a message of the user is newer, those that seem to be older come first, all at once: the clock was set back.
		isUnanswered := isUsers(row) && !m.answered[row.ID]
		delete(m.answered, row.ID)
		if isUnanswered {
			row.Head = bytes.Clone(row.Head)
			for answer := range answersBefore(rows, row) {
				m.late[answer.ID] = true
				m.readMessage(rows, answer)
				m.readParts(rows, true)
			}
		}
		m.readMessage(rows, row)
		m.readParts(rows, isUnanswered)
	}
	return !m.stopped
}

// answersBefore yields the answers to a message of the user that seem to be older than it, newest first.
func answersBefore(rows rowReader, message storedRow) iter.Seq2[storedRow, storedMessage] {
	return func(yield func(storedRow, storedMessage) bool) {
		id, n := message.ID, 0
		for row := range rows.Newest(cursor{Time: message.Created, Message: id}) {
			if n++; n > maxUnreadRows {
				return
			}
			if m := readAnswer(row); m.parentID == id && !yield(row, m) {
				return
			}
		}
	}
}

// readMessage begins a message. It reads only the head of the user's messages: they may contain whole files that changed. It searches the
// message's parent for a shell note only if no model seems to have written the message.
func (m *messageReader) readMessage(rows rowReader, row storedRow) {
	if m.summary {
		m.summaryOf = m.parentID
	}
	message := parseRow(row, row.Head)
	var warning error
	if message.Role != userRole {
		var data []byte
		data, warning = row.Read()
		message = parseRow(row, data)
		m.Bytes += len(data)
	}
	m.answered[message.parentID] = true
	m.cursor = cursor{Time: row.Created, Message: message.ID, Part: afterAllParts}
	m.storedMessage, m.counted, m.shellCommand, m.filesSeen = message, false, false, false
	if message.Role == assistantRole && message.finishReason == "" && message.tokens.Total == 0 && message.parentID != "" {
		for first := range rows.Parts(message.parentID) {
			p := parsePart(first.JSON())
			m.shellCommand = p.hidden && p.text == shellNote
			break
		}
	}
	if warning != nil {
		m.add(transcriptItem{Err: warning})
	}
	if message.failed {
		m.add(m.newFailure(message.ID))
	}
}

// newFailure makes a message of the error of the current one.
func (m *messageReader) newFailure(id string) transcriptItem {
	kind := discover.KindError
	if m.errName == abortedName {
		kind = discover.KindInterruption
	}
	return m.newItem(id, kind, m.Completed, cmp.Or(m.errText, m.errName))
}

// readParts reads the parts of the current message that are older than the cursor, also if it is stopped meanwhile with all. A part whose end
// is missing is only a warning.
func (m *messageReader) readParts(rows rowReader, all bool) {
	if m.cursor.Part == "" || m.Role != userRole && m.Role != assistantRole {
		return
	}
	for row := range rows.PartsBefore(m.cursor) {
		if m.stopped && !all {
			return
		}
		m.cursor.Part = row.ID
		switch kind := partType(row.Head); {
		case kind == "file" && m.Role == userRole && !m.filesSeen:
			m.filesSeen = true
			if text, isFile := words(rows, m.ID); isFile {
				m.add(m.newItem(row.ID, discover.KindText, 0, text))
			}
			continue
		case kind != "" && strings.Contains(hiddenPartTypes, " "+kind+" "):
			continue
		}
		data, err := row.Read()
		m.Bytes += len(data)
		if err != nil {
			m.add(transcriptItem{Err: err})
		} else if item, ok := m.part(row.ID, data); ok {
			m.add(item)
		}
	}
	m.cursor.Part = ""
}

// hiddenPartTypes are the types of parts that are not shown: thoughts, steps, snapshots, patches and attachments. The files of a prompt
// without words are.
const hiddenPartTypes = " reasoning file agent step-start step-finish snapshot patch retry "

// newItem makes a message of the current one, or of a part of it. The newest part of an answer has its tokens.
func (m *messageReader) newItem(id string, kind discover.MessageKind, at int64, text string) transcriptItem {
	item := transcriptItem{Message: discover.Message{ID: id, Role: discover.RoleUser, Kind: kind, Time: fromMillis(cmp.Or(at, m.Created)), Text: text}}
	if m.Role == assistantRole || m.kind != "" { // messages of OpenCode 2 are in their place
		item.answer = m.ID
	}
	if m.Role == assistantRole {
		if m.shellCommand {
			return item
		}
		item.Role, item.Model = discover.RoleAssistant, m.Model
		if m.tokens.Total > 0 && !m.counted {
			tokens := m.tokens
			item.Tokens, m.counted = &tokens, true
		}
	}
	if kind != discover.KindText && kind != discover.KindTool {
		item.Role = discover.RoleSystem
	}
	return item
}

// part makes a message of a part. A text that the agent added makes none, and neither does a blank one: 1.1.65 stores a text while it grows,
// 1.18.33 only when it is complete (SEEN). A part of an unknown type is a call if it has what calls have.
func (m *messageReader) part(id string, o storage.Object) (item transcriptItem, ok bool) {
	switch partType(o) {
	case "text":
		text, times := o.Get("text").Text(0), o.Get("time").Object()
		if isBlank(text) || o.Get("synthetic").IsTrue() || o.Get("ignored").IsTrue() {
			return item, false
		}
		kind := discover.KindText
		if m.summary {
			kind = discover.KindCompaction
		}
		return m.newItem(id, kind, cmp.Or(times.Get("end").Int(), times.Get("start").Int()), text), true
	case "":
		return item, false
	case "subtask": // the user's command to a sub-agent
		return m.newItem(id, discover.KindText, 0, o.Get("prompt").Text(0)), true
	case "compaction":
		return m.newItem(id, discover.KindCompaction, 0, ""), m.ID != m.summaryOf
	}
	return m.tool(id, o)
}
