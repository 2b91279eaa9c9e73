package opencode

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

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
