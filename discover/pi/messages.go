package pi

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Messages implements [discover.Adapter]. It reads the file from its end. Entries of all branches are among them, in the order in which
// they were written.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return discover.StreamFile(ctx, r, readMessages)
}

func readMessages(f *storage.File, out *discover.MessageStream) error {
	m := messageReader{MessageStream: out, file: f}
	_, err := f.RecordsBackward(0, m.add)
	return err
}

// messageReader turns entries, the newest first, into messages.
type messageReader struct {
	*discover.MessageStream
	file    *storage.File
	results discover.ToolResults
}

// add takes the next older line and reports whether to go on.
func (m *messageReader) add(l storage.Line) bool {
	if e, ok := parseEntry(l.Bytes); l.Cut || l.Rest || !ok {
		m.Warn(m.file.Path(), m.file.Lost(l))
	} else {
		messages := m.messages(&e, l)
		slices.Reverse(messages)
		m.Emit(messages...)
	}
	return !m.Stopped
}

// messages returns the messages of an entry, the oldest first.
func (m *messageReader) messages(e *entry, l storage.Line) []discover.Message {
	one := func(role discover.Role, kind discover.MessageKind, text string) []discover.Message {
		return []discover.Message{{ID: cmp.Or(e.ID, fmt.Sprintf("@%d", l.Offset)), Time: e.Timestamp.Time(), Role: role, Kind: kind, Text: text}}
	}
	switch {
	case e.Type == typeCompaction:
		return one(discover.RoleSystem, discover.KindCompaction, e.Get("summary").Text(0))
	case e.Type == typeSummary:
		return one(discover.RoleSystem, discover.KindText, e.Get("summary").Text(0))
	case e.Type == typeExtension && string(e.Get("display").Raw()) != "false":
		return one(discover.RoleSystem, discover.KindText, textOf(e.Get("content")))
	case e.Role == roleUser:
		return one(discover.RoleUser, discover.KindText, textOf(e.message.Get("content")))
	case e.Role == roleShell:
		return one(discover.RoleSystem, discover.KindText, "! "+e.message.Get("command").Text(0)+"\n"+e.message.Get("output").Text(0))
	case e.Role == roleResult:
		m.results.EndAnswer()
		addResult(&m.results, e)
	case e.Role == roleAssistant:
		return m.answer(e, one(discover.RoleAssistant, discover.KindText, "")[0])
	}
	return nil
}

// answer returns the messages of an answer: its texts and calls, and how it ended if not well. Each is like base. The first has the tokens.
func (m *messageReader) answer(e *entry, base discover.Message) (list []discover.Message) {
	base.Model = e.message.Get("model").Text(0)
	blocks := 0
	next := func() (message discover.Message) {
		if message = base; blocks > 0 {
			message.ID = fmt.Sprintf("%s/%d", base.ID, blocks)
		}
		blocks++
		return message
	}
	for block := range e.message.Get("content").Elements() {
		message, o := next(), block.Object()
		switch o.Get("type").Word(blockText, blockCall) {
		case blockText:
			if message.Text = o.Get("text").Text(0); message.Text == "" {
				continue
			}
		case blockCall:
			message.Kind, message.Tool = discover.KindTool, newCall(o)
			m.results.Complete(message.Tool)
		default:
			continue
		}
		list = append(list, message)
	}
	kinds := map[string]discover.MessageKind{"aborted": discover.KindInterruption, "error": discover.KindError}
	if kind, ok := kinds[e.message.Get("stopReason").Word("stop", "toolUse")]; ok {
		message := next()
		message.Role, message.Kind, message.Text = discover.RoleSystem, kind, e.message.Get("errorMessage").Text(0)
		list = append(list, message)
	}
	if tokens, ok := tokensOf(e.message.Get("usage").Object()); ok && len(list) > 0 {
		list[0].Tokens = &tokens
	}
	return list
}
