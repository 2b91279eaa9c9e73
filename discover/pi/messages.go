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
	return func(yield func(discover.Message, error) bool) {
		if r.Path == "" {
			return // nothing is stored
		}
		f, err := storage.Open(ctx, r.Path)
		if err != nil {
			yield(discover.Message{}, warning(r.Path, err))
			return
		}
		defer f.Close()
		m := messageReader{file: f, yield: yield}
		if _, err := f.RecordsBackward(0, m.add); err != nil && !m.stopped {
			yield(discover.Message{}, warning(r.Path, err))
		}
	}
}

// messageReader turns entries, the newest first, into messages.
type messageReader struct {
	file    *storage.File
	yield   func(discover.Message, error) bool
	results discover.ToolResults
	stopped bool
}

// add takes the next older line and reports whether to go on.
func (m *messageReader) add(l storage.Line) bool {
	e, ok := parseEntry(l.Bytes)
	switch {
	case l.Cut || l.Rest || !ok:
		m.warn(m.file.Lost(l))
	default:
		for _, message := range slices.Backward(m.messages(&e, l)) {
			m.stopped = m.stopped || !m.yield(message, nil)
		}
	}
	return !m.stopped
}

func (m *messageReader) warn(err error) {
	m.stopped = m.stopped || !m.yield(discover.Message{}, warning(m.file.Path(), err))
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
