package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Messages implements [discover.Adapter]. It reads the transcript from its end. Which records become which messages is
// described in docs/agents/claude-code.md.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return discover.StreamFile(ctx, r, func(f *storage.File, out *discover.MessageStream) error {
		return (&messageReader{MessageStream: out, file: f, sidechain: isSubagent(r.ID)}).readAll()
	})
}

// messageReader turns records, from the newest to the oldest, into messages. It keeps what older records need of newer ones.
type messageReader struct {
	*discover.MessageStream
	file      *storage.File
	sidechain bool           // sidechain records count: it is a sub-agent's transcript
	stored    map[string]int // how often each record is stored before the place that was read
	link      lineLink       // of the line that was read
	order     messageOrder
	results   discover.ToolResults
	tokens    map[callID]*discover.Tokens // of the answers that were read, until a message has them: then nil
	answers   openAnswers
	// boundary is the record before the newest summary: both belong to the same compaction.
	boundary string
	// interruptedAnswer is the ID of the answer that the user interrupted: its tool calls were running.
	interruptedAnswer string
	damaged           bool // the line before was damaged
}

// readAll emits the messages of a transcript. Its error stands for all older ones, which cannot be read.
func (m *messageReader) readAll() error {
	if m.file.Size() <= maxCounted {
		m.stored = countRecords(m.file)
	}
	_, err := m.file.ParseBackward(0, parser(m.line))
	for _, held := range m.order.waiting {
		m.Emit(held.Message)
	}
	return err
}

// line takes the next line and reports whether to go on.
func (m *messageReader) line(l storage.Line, r *rawLine) bool {
	if l.Cut || r == nil && !m.damaged {
		m.Warn(m.file.Path(), m.file.Lost(l))
	}
	if r != nil {
		messages := m.read(l.Offset, r)
		m.Emit(m.order.add(m.link, messages, writtenAt(r))...)
	}
	if !l.Cut {
		m.damaged = r == nil
	}
	return !m.Stopped
}

// lineLink is a record's place in the conversation: its UUID and that of the record before it.
type lineLink struct{ uuid, parent string }

// maxCounted is up to how many bytes a transcript is read for records that are stored more than once.
const maxCounted = 128 << 20

// countRecords counts how often each UUID is stored. Claude Code stores records again, as after a compaction: the first place counts.
func countRecords(f *storage.File) map[string]int {
	stored := map[string]int{}
	_ = f.Blocks(func(b []byte) bool { // reading the messages reports the error
		for {
			_, rest, ok := bytes.Cut(b, []byte(`"uuid"`))
			if !ok {
				return true
			}
			value := bytes.TrimLeft(rest[:min(len(rest), 2*storage.UUIDLen)], ": \t")
			if end := bytes.IndexByte(value[min(1, len(value)):], '"'); end >= 0 {
				stored[string(value[1:1+end])]++
			}
			b = rest
		}
	})
	return stored
}

// isCopy reports whether the record that was read is stored earlier in the file, too.
func (m *messageReader) isCopy() bool {
	copied := m.stored[m.link.uuid] > 1
	if copied {
		m.stored[m.link.uuid]--
	}
	return copied
}

// writtenAt returns when a record was written; zero for metadata, and for a prompt that was queued during a turn: its time
// is when it was typed, but it was written when the model got it.
func writtenAt(line *rawLine) time.Time {
	if line.isMetadata() || line.isQueued() {
		return time.Time{}
	}
	return line.time()
}

// messageLine is a record that messages are made of.
type messageLine struct {
	*rawLine
	id     string         // of its first message; the others get the index of their block as well
	origin storage.Object // of a user record, or of a prompt that was queued during a turn
}

// read returns the messages of the record at an offset, newest first.
func (m *messageReader) read(offset int64, line *rawLine) (messages []discover.Message) {
	if m.link = (lineLink{}); line.isMetadata() {
		return nil
	}
	m.link = lineLink{line.UUID.Text(maxCallID), line.ParentUUID.Text(maxCallID)}
	if line.IsSidechain != m.sidechain || m.isCopy() || line.Type == "attachment" && !line.isQueued() {
		return nil
	}
	if line.IsCompactSummary || line.Subtype == "compact_boundary" {
		m.link = lineLink{} // what the summary is of follows its request, which follows the summary in the file
	}
	s := messageLine{line, cmp.Or(line.UUID.Text(0), fmt.Sprintf("@%d", offset)), line.Origin.Object()}
	switch s.Type {
	case "user":
		m.answers.addUser(line)
		m.results.EndAnswer()
		messages = m.user(s)
	case "assistant":
		messages = m.assistant(s)
	case "system":
		messages = m.system(s)
	case "attachment":
		queued := s.Get("attachment").Object()
		s.origin = queued.Get("origin").Object()
		messages = s.userMessages(queued.Get("prompt"))
	}
	slices.Reverse(messages)
	return messages
}

// message returns a message for the record's block with this index.
func (m messageLine) message(block int, w messageText) discover.Message {
	message := discover.Message{ID: m.id, Time: m.Timestamp.Time(), Role: w.role, Kind: w.kind, Text: w.text}
	if fromPeer(m.origin) {
		message.SentID = m.origin.Get("msg_id").Text(maxCallID)
	}
	if w.role == discover.RoleAssistant && !m.synthetic() {
		message.Model = m.Model.Text(0)
	}
	if block > 0 {
		message.ID = fmt.Sprintf("%s/%d", m.id, block)
	}
	return message
}

// fromPeer reports whether a message was not typed but came through Claude Code's socket for messages: from another session, or
// from another program. Its record has isMeta, but the model answers it as it answers a prompt (SEEN 2.1.224-2.1.330).
func fromPeer(origin storage.Object) bool { return origin.Get("kind").Word("peer") == "peer" }

// texts returns a message for each text block, as classify has it. Empty texts are left out.
func (m messageLine) texts(content storage.Value, classify func(string) messageText) (messages []discover.Message) {
	for i, b := range blocks(content) {
		if b.Type != "text" {
			continue
		}
		if w := classify(b.Text.Text(0)); w.text != "" {
			messages = append(messages, m.message(i, w))
		}
	}
	return messages
}

func (m messageLine) userMessages(content storage.Value) []discover.Message {
	from := m.origin.Get("kind").Text(0)
	messages := m.texts(content, func(text string) messageText { return userText(text, from) })
	if len(messages) == 0 && hasBlock(content, "image") && textOf(content, textStartLimit) == "" {
		return []discover.Message{m.message(0, messageText{discover.RoleUser, discover.KindText, imageText})}
	}
	return messages
}

func (m *messageReader) user(line messageLine) []discover.Message {
	for _, b := range blocks(line.Content) {
		m.addResult(line, b)
	}
	m.interruptedAnswer = cmp.Or(line.Get("interruptedMessageId").Text(0), m.interruptedAnswer) // the answer that the user interrupted by this record
	switch {
	case line.IsMeta && !fromPeer(line.origin):
		return nil
	case line.IsCompactSummary:
		m.boundary = line.ParentUUID.Text(0)
		return []discover.Message{line.message(0, messageText{discover.RoleSystem, discover.KindCompaction, textOf(line.Content, 0)})}
	case line.IsTranscriptOnly:
		return nil
	}
	return line.userMessages(line.Content)
}

// addResult takes a block that is a tool's result as such, whatever its kind is called. Its call is mostly before it in the file, but may have been read already, see
// messageOrder.
func (m *messageReader) addResult(line messageLine, b block) {
	if b.ToolUseID == "" {
		return
	}
	output := resultText(b.Content)
	failed := b.IsError || strings.HasSuffix(b.Content.Object().Get("type").Text(0), "_error")
	state := toolState(failed, output)
	for _, held := range m.order.waiting {
		if c := held.Tool; c != nil && c.ID == b.ToolUseID && c.State == discover.ToolOpen && !held.Time.After(line.Timestamp.Time()) {
			c.Output, c.State = output, state
			return
		}
	}
	m.results.Add(b.ToolUseID, output, state)
}

// userText classifies a text of a user record with this origin.
func userText(text, origin string) messageText {
	text, pasted := stripPasteTags(text, false)
	return classify(text, pasted, origin)
}

// classify returns what a text of a user record with this origin is: mostly, the user typed it.
func classify(text string, pasted bool, origin string) messageText {
	switch w, ok := parseTagged(text); {
	case ok && !pasted:
		return w
	case origin == "human", origin == "" && (pasted || !isFromOthers(text)):
		return messageText{discover.RoleUser, discover.KindText, text}
	}
	return systemText(text)
}

// What Claude Code writes if it does not give the model a message that came through its socket (SEEN 2.1.330): it asks the user
// first, or drops it.
const (
	heldPrefix    = "Held peer message"
	droppedPrefix = "Dropped a peer message"
)

func (m *messageReader) system(line messageLine) []discover.Message {
	switch line.Subtype {
	case "local_command":
		return line.texts(line.Get("content"), func(text string) messageText { w, _ := parseTagged(text); return w })
	case "compact_boundary":
		if line.id != m.boundary {
			return []discover.Message{line.message(0, messageText{role: discover.RoleSystem, kind: discover.KindCompaction})}
		}
	case "informational":
		if text := line.Get("content").Text(0); beginsWith(text, heldPrefix, droppedPrefix) {
			return []discover.Message{line.message(0, systemText(text))}
		}
	case "api_error":
		return []discover.Message{line.message(0, errorText(apiError(line.Get("error").Raw())))}
	}
	return nil
}

// isQueued reports whether the record is a prompt, or the notice of a finished task, that arrived during a turn and was given
// to the model.
func (r *rawLine) isQueued() bool {
	return r.Type == "attachment" && r.Get("attachment").Object().Get("type").Word("queued_command") == "queued_command"
}

func (m *messageReader) assistant(line messageLine) (messages []discover.Message) {
	answer := m.answerOf(line.rawLine)
	for _, b := range blocks(line.Content) {
		m.addResult(line, b)
	}
	for i, b := range blocks(line.Content) {
		if message, ok := m.blockMessage(line, i, b); ok {
			if message.Tokens = m.tokens[answer]; message.Tokens != nil {
				m.tokens[answer] = nil
			}
			messages = append(messages, message)
		}
	}
	return messages
}

// maxTokens is how many answers are known whose tokens a message has, or may get.
const maxTokens = 1 << 12

// answerOf returns the answer that a record is part of: several records, of which the newest has the final usage.
func (m *messageReader) answerOf(line *rawLine) callID {
	used, ok := line.AnswerUsage()
	if !ok {
		return 0
	}
	id := m.answers.callID(line, used)
	if _, known := m.tokens[id]; !known {
		if m.tokens == nil || len(m.tokens) == maxTokens {
			m.tokens = map[callID]*discover.Tokens{}
		}
		tokens := withTotal(used)
		tokens.Context = contextSize(used)
		m.tokens[id] = &tokens
	}
	return id
}

// blockMessage returns the message of one block of an answer: the model's, or Claude Code's in place of one.
func (m *messageReader) blockMessage(line messageLine, i int, b block) (message discover.Message, ok bool) {
	switch {
	case b.isCall():
		message = line.message(i, messageText{role: discover.RoleAssistant, kind: discover.KindTool})
		message.Tool = newCall(b)
		m.results.Complete(message.Tool)
		if message.Tool.State == discover.ToolRefused && line.ID.Text(0) == m.interruptedAnswer {
			message.Tool.State = discover.ToolInterrupted
		}
		if isUnique(b.ID, "toolu_") {
			message.ID = b.ID
		}
		return message, true
	case b.Type != "text":
		return message, false
	}
	w := messageText{discover.RoleAssistant, discover.KindText, b.Text.Text(0)}
	if line.IsAPIErrorMessage {
		w = errorText(w.text)
	} else if w.text == noContent || line.synthetic() && w.text == noResponse {
		return message, false
	}
	return line.message(i, w), w.text != ""
}

// isUnique reports whether an ID is one of the API, which is random behind its prefix. Some models number their calls anew in each answer,
// and some gateways give all answers one ID.
func isUnique(id, prefix string) bool { return len(id) > 20 && strings.Contains(id[:10], prefix) }

// Texts that Claude Code writes in place of an answer. Its own screen does not show them.
const (
	noContent  = "(no content)"
	noResponse = "No response requested."
)

// messageOrder sorts messages, given newest record first, by time, but none before the record that it follows: clocks are set back.
// Records are nearly sorted: a TUI's first write may put an answer before its prompt; the prompt of a compaction follows it, and so does
// what a compaction preserved in a fork. So messageOrder holds messages back until it has some more of them.
type messageOrder struct {
	waiting []bufferedMessage // the newest first
	last    time.Time         // the time of the newest line read
	newer   map[string]string // by the UUID of a record that was not read yet: the oldest message that follows it
}

type bufferedMessage struct {
	discover.Message
	time time.Time
}

// maxWaiting is how many messages are held back.
const maxWaiting = 32

// add takes the messages of a record with this time and returns those that need not wait longer, newest first. If the time
// is zero, the messages belong right before the record that follows them in the file.
func (m *messageOrder) add(link lineLink, messages []discover.Message, at time.Time) (ready []discover.Message) {
	newer := m.newer[link.uuid]
	delete(m.newer, link.uuid)
	begin := m.index(newer) + 1
	if !at.IsZero() {
		m.last = at
	} else if at = m.last; at.IsZero() {
		at = time.Unix(1<<40, 0) // later than any record
	}
	for _, message := range messages {
		i := len(m.waiting) // of two with the same time, the one read first is newer
		for i > begin && m.waiting[i-1].time.Before(at) {
			i--
		}
		m.waiting = slices.Insert(m.waiting, i, bufferedMessage{message, at})
		newer = message.ID
	}
	if len(m.newer) > 2*maxWaiting || m.newer == nil {
		m.newer = map[string]string{}
	}
	if m.index(newer) > m.index(m.newer[link.parent]) {
		m.newer[link.parent] = newer
	}
	for len(m.waiting) > maxWaiting {
		ready = append(ready, m.waiting[0].Message)
		m.waiting = m.waiting[1:]
	}
	return ready
}

// index returns the place of a message that waits; -1 if it does not.
func (m *messageOrder) index(id string) int {
	return slices.IndexFunc(m.waiting, func(held bufferedMessage) bool { return held.ID == id })
}
