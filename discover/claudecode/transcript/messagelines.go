package transcript

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// messageReader turns records, given newest first, into messages. It remembers what of a newer record an older one needs.
type messageReader struct {
	sidechain bool // a sub-agent's: its chain is the main one
	results   toolResults
	answers   recentAnswers
	// boundary is the record that the newest summary follows: it is of the same compaction.
	boundary string
	// interruptedAnswer is the answer that the person cut short: what it called was running.
	interruptedAnswer string
}

// messageLine is a record whose messages are wanted.
type messageLine struct {
	Line
	id string // its messages', but for their number
}

// read returns the messages of one line, newest first; not ok if it is damaged.
func (c *messageReader) read(l fsread.Line) (messages []discover.Message, ok bool) {
	if metadataType(l.Bytes) != nil || isAttachment(l.Bytes) && !isQueued(l.Bytes) {
		return nil, true
	}
	record, ok := ParseLine(l.Bytes)
	if !ok {
		return nil, !jsonl.Damaged(l.Bytes)
	}
	if record.IsSidechain != c.sidechain {
		return nil, true
	}
	s := messageLine{record, cmp.Or(record.UUID.Text(0), fmt.Sprintf("@%d", l.Offset))}
	switch s.Type {
	case "user":
		messages = c.user(s)
	case "assistant":
		messages = c.assistant(s)
	case "system":
		messages = c.system(s)
	case "attachment":
		queued := s.Attachment.Object()
		messages = s.userMessages(queued.Get("prompt"), queued.Get("origin").Object().Get("kind"))
	}
	slices.Reverse(messages)
	return messages, true
}

// message is what the record's block of this number says.
func (s messageLine) message(block int, w messageText) discover.Message {
	m := discover.Message{ID: s.id, Time: s.Timestamp.Time(), Role: w.role, Kind: w.kind, Text: w.text}
	if w.role == discover.RoleAssistant && !s.synthetic() {
		m.Model = s.Model.Text(0)
	}
	if block > 0 {
		m.ID = fmt.Sprintf("%s/%d", s.id, block)
	}
	return m
}

// texts are the messages of texts, each of which is understood by itself.
func (s messageLine) texts(content jsonl.Value, understand func(string) messageText) (messages []discover.Message) {
	for i, b := range blocks(content) {
		if b.Type != "text" {
			continue
		}
		if w := understand(b.Text.Text(0)); w.text != "" {
			messages = append(messages, s.message(i, w))
		}
	}
	return messages
}

// userMessages are the messages of what stands in a user record.
func (s messageLine) userMessages(content, origin jsonl.Value) []discover.Message {
	from := origin.Text(0)
	return s.texts(content, func(text string) messageText { return userText(text, from) })
}

func (c *messageReader) user(s messageLine) []discover.Message {
	for _, b := range blocks(s.Content) {
		c.results.add(b)
	}
	c.interruptedAnswer = cmp.Or(s.Interrupted.Text(0), c.interruptedAnswer)
	switch {
	case s.IsMeta:
		return nil
	case s.IsCompactSummary:
		c.boundary = s.ParentUUID.Text(0)
		return []discover.Message{s.message(0, messageText{discover.RoleSystem, discover.KindCompaction, textOf(s.Content, 0)})}
	case s.IsTranscriptOnly:
		return nil
	}
	return s.userMessages(s.Content, s.Origin)
}

// userText understands what stands in a user record of this origin: mostly what a person typed.
func userText(text, origin string) messageText {
	text, pasted := stripPasteTags(text, false)
	switch w, ok := parseTagged(text); {
	case ok && !pasted:
		return w
	case origin == "" || origin == "human":
		return messageText{discover.RoleUser, discover.KindText, text}
	}
	return systemText(text)
}

func (c *messageReader) system(s messageLine) []discover.Message {
	switch s.Subtype {
	case "local_command":
		return s.texts(s.SystemContent, func(text string) messageText { w, _ := parseTagged(text); return w })
	case "compact_boundary":
		if s.id != c.boundary {
			return []discover.Message{s.message(0, messageText{role: discover.RoleSystem, kind: discover.KindCompaction})}
		}
	case "api_error":
		return []discover.Message{s.message(0, errorText(apiError(s.Error.Raw())))}
	}
	return nil
}

// isQueued tells what a person, or a finished task, said while a turn was in progress, and the model has got.
func isQueued(raw []byte) bool {
	return bytes.Contains(raw[:min(len(raw), 400)], []byte(`"type":"queued_command"`))
}

func (c *messageReader) assistant(s messageLine) (messages []discover.Message) {
	answer := c.answers.find(&s.Line)
	for i, b := range blocks(s.Content) {
		c.results.add(b)
		if m, ok := c.blockMessage(s, i, b); ok {
			m.Tokens = answer.tokens()
			messages = append(messages, m)
		}
	}
	return messages
}

// blockMessage is what one block of an answer says: the model's, or Claude Code's own in its place.
func (c *messageReader) blockMessage(s messageLine, i int, b Block) (m discover.Message, ok bool) {
	switch {
	case strings.HasSuffix(b.Type, "tool_use"):
		m = s.message(i, messageText{role: discover.RoleAssistant, kind: discover.KindTool})
		m.Tool = c.results.call(b)
		if m.Tool.State == discover.ToolRefused && s.ID.Text(0) == c.interruptedAnswer {
			m.Tool.State = discover.ToolInterrupted
		}
		if b.ID != "" {
			m.ID = b.ID
		}
		return m, true
	case b.Type != "text":
		return m, false
	}
	w := messageText{discover.RoleAssistant, discover.KindText, b.Text.Text(0)}
	if s.IsAPIErrorMessage {
		w = errorText(w.text)
	} else if w.text == noContent || s.synthetic() && w.text == noResponse {
		return m, false
	}
	return s.message(i, w), w.text != ""
}

// What Claude Code writes for an answer where there is none; its own screen does not show it.
const (
	noContent  = "(no content)"
	noResponse = "No response requested."
)
