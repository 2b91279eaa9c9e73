package copilot

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Messages implements [discover.Adapter]. It reads the records from their end. Which records become which messages is described in
// docs/agents/copilot.md.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return discover.StreamFile(ctx, r, readMessages)
}

func readMessages(f *storage.File, out *discover.MessageStream) error {
	m := messageReader{MessageStream: out, file: f}
	_, err := f.RecordsBackward(0, m.addLine)
	m.emitAnswer()
	return err
}

// messageReader turns records, from the newest to the oldest, into messages.
type messageReader struct {
	*discover.MessageStream
	file    *storage.File
	results discover.ToolResults
	// answer has the messages of an answer, the newest first, until the record of what it used is read: that is before it.
	answer  []discover.Message
	damaged bool // the line before was damaged
}

// emitAnswer yields an answer that nothing more is known of.
func (m *messageReader) emitAnswer() {
	m.Emit(m.answer...)
	m.answer = nil
}

// addLine takes the next line and reports whether to go on.
func (m *messageReader) addLine(l storage.Line) bool {
	e, ok := parseEvent(l.Bytes)
	ok = ok && !l.Rest
	if l.Cut || !ok && !m.damaged {
		m.Warn(m.file.Path(), m.file.Lost(l))
	}
	if !l.Cut {
		m.damaged = !ok
	}
	if ok && !l.Cut && !e.ofSubagent() {
		m.add(&e, l.Offset)
	}
	return !m.Stopped
}

// add takes the next record. A record without an ID is named by its place.
func (m *messageReader) add(e *event, offset int64) {
	id := e.ID.Text(idLimit)
	if id == "" {
		id = fmt.Sprintf("@%d", offset)
	}
	message := discover.Message{ID: id, Time: e.time(), Role: discover.RoleSystem, Kind: discover.KindText}
	text := func(key string) string { return e.Data.Get(key).Text(0) }
	switch e.Type {
	case usageRecord:
		if n := len(m.answer); n > 0 {
			used := e.Data.Get("usage").Object()
			tokens := tokensOf(used)
			tokens.Context, tokens.Window = used.Get("inputTokens").Int(), used.Get("maxPromptTokens").Int()
			m.answer[n-1].Tokens = &tokens
		}
		m.emitAnswer()
		return
	case toolComplete:
		m.results.EndAnswer()
		addResult(&m.results, e.Data)
		return
	case assistantText:
		m.emitAnswer()
		m.answer = m.answerOf(e, message)
		return
	case userMessage:
		if e.fromUser() {
			message.Role, message.SentID = discover.RoleUser, e.Data.Get("messageId").Text(idLimit)
		}
		message.Text = text("content")
	case userTool:
		message.Role, message.Kind = discover.RoleUser, discover.KindTool
		message.Tool = newCall(&m.results, e.Data.Get("toolCallId"), e.Data.Get("toolName"), e.Data.Get("arguments"))
	case sessionError:
		message.Kind, message.Text = discover.KindError, strings.TrimSpace(text("message"))
	case aborted:
		message.Kind, message.Text = discover.KindInterruption, text("reason")
	case compacted:
		if !e.Data.Get("success").IsTrue() {
			return
		}
		message.Kind, message.Text = discover.KindCompaction, text("summaryContent")
	case notification:
		message.Text = text("content")
	default:
		return
	}
	m.emitAnswer()
	if message.Text != "" || message.Tool != nil || message.Kind == discover.KindCompaction {
		m.Emit(message)
	}
}

// answerOf returns the messages of an answer, the newest first: its text, and then its calls.
func (m *messageReader) answerOf(e *event, message discover.Message) (list []discover.Message) {
	message.Role, message.Model = discover.RoleAssistant, e.Data.Get("model").Text(textLimit)
	if text := e.Data.Get("content").Text(0); text != "" {
		said := message
		said.Text = text
		list = append(list, said)
	}
	n := 0
	for v := range e.Data.Get("toolRequests").Elements() {
		call := message
		if n++; n > 1 || len(list) > 0 {
			call.ID = fmt.Sprintf("%s/%d", message.ID, n)
		}
		call.Kind, call.Tool = discover.KindTool, newCall(&m.results, v.Object().Get("toolCallId"), v.Object().Get("name"), v.Object().Get("arguments"))
		list = append(list, call)
	}
	slices.Reverse(list)
	return list
}
