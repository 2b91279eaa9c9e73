package opencode

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// builder makes messages out of what is stored, read from the newest to the oldest.
type builder struct {
	message             // whose parts come
	counted      bool   // its tokens are given
	shellCommand bool   // a command of the person's, which the agent's program ran: no model was asked
	summaryOf    string // the message that asked for the summary seen last
}

// shellNote is all that stands in the person's message for a command that they gave with "!". The command itself is a
// call of bash in an answer to it, which no model made (SEEN 1.1.65, 1.18.33).
const shellNote = "The following tool was executed by the user"

// begin turns to a message. Whether the message that it answers is a note of the person's own command is asked only where
// it can be.
func (d *builder) begin(m message, answersNote func() bool) {
	if d.summary {
		d.summaryOf = d.parentID
	}
	d.message, d.counted = m, false
	d.shellCommand = m.role == "assistant" && m.finishReason == "" && m.tokens.Total == 0 && m.parentID != "" && answersNote()
}

// isConversation reports whether the message is one of the two sides.
func (d *builder) isConversation() bool { return d.role == "user" || d.role == "assistant" }

// newItem makes a message of this one, or of a part of it. The first one made of an answer, which is the newest, has its tokens.
func (d *builder) newItem(id string, kind discover.MessageKind, at int64, text string) item {
	s := item{Message: discover.Message{ID: id, Role: discover.RoleUser, Kind: kind, Time: timeOf(cmp.Or(at, d.created)), Text: text}}
	if d.role == "assistant" {
		s.answer = d.id
		if s.Role = discover.RoleAssistant; d.shellCommand {
			s.Role = discover.RoleUser
			return s
		}
		s.Model = d.model
		if d.tokens.Total > 0 && !d.counted {
			tokens := d.tokens
			s.Tokens, d.counted = &tokens, true
		}
	}
	if kind != discover.KindText && kind != discover.KindTool {
		s.Role = discover.RoleSystem
	}
	return s
}

// failure is how the answer ended, where that is not well.
func (d *builder) failure() (s item, ok bool) {
	if !d.failed {
		return s, false
	}
	kind := discover.KindError
	if d.errName == abortedName {
		kind = discover.KindInterruption
	}
	return d.newItem(d.id, kind, d.completed, cmp.Or(d.errText, d.errName)), true
}

// part is what a part of the message says. Thoughts, steps, snapshots, patches and what is attached say nothing, nor do texts
// that the agent's program added.
func (d *builder) part(id string, o jsonl.Object) (s item, ok bool) {
	switch partType(o) {
	case "text":
		return d.text(id, o)
	case "tool":
		return d.tool(id, o), true
	case "subtask": // a command of the person's for a sub-agent: what became of it
		return d.newItem(id, discover.KindText, 0, o.Get("prompt").Text(0)), true
	case "compaction":
		return d.newItem(id, discover.KindCompaction, 0, ""), d.id != d.summaryOf
	case "retry":
		at := o.Get("time").Object().Get("created").Int()
		return d.newItem(id, discover.KindError, at, errorText(o.Get("error").Object())), true
	}
	return s, false
}

// partType is what sort of part it is, also where its end is not at hand; "" where that is not told so far.
func partType(o jsonl.Object) string { return o.Get("type").Text(shortLimit) }

// isHiddenType reports whether parts of a type are never shown.
func isHiddenType(kind string) bool {
	switch kind {
	case "", "text", "tool", "subtask", "compaction", "retry":
		return false
	}
	return true
}

// text is none where it is empty: 1.18.33 stores it when it is whole, 1.1.65 as it grows (SEEN).
func (d *builder) text(id string, o jsonl.Object) (s item, ok bool) {
	for _, hidden := range [...]string{"synthetic", "ignored"} {
		if string(o.Get(hidden).Raw()) == "true" {
			return s, false
		}
	}
	text, times := o.Get("text").Text(0), o.Get("time").Object()
	at := cmp.Or(times.Get("end").Int(), times.Get("start").Int())
	kind := discover.KindText
	if d.summary {
		kind = discover.KindCompaction
	}
	return d.newItem(id, kind, at, text), text != ""
}
