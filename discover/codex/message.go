package codex

import (
	"cmp"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// addRecord makes the messages of one whole record. Texts are recorded as items of the conversation with the model, too, which
// hold the agent's own additions to it; those are not read.
func (t *messageReader) addRecord(r *Record, at int64) {
	defer func() { t.afterModelItem = r.Kind.FromModel() }()
	switch r.Kind {
	case SessionMeta:
		if at == 0 {
			t.base = t.baseSegment(r)
		}
	case TurnContext:
		t.model.passTurnStart()
	case TurnStarted:
		t.tokens.clear()
		t.lastError = ""
	case TurnCompleted:
		t.addFailure(r, at, r.Get("error").Object().Get("message").Text(0))
	case TurnFailed:
		t.addFailure(r, at, r.Text())
	case TurnAborted:
		t.tokens.clear()
		t.emit(t.newMessage(r, at, discover.System, discover.KindInterruption, r.Get("reason").Text(0)))
	case ContextCompacted:
		t.tokens.clear()
		t.emit(t.newMessage(r, at, discover.System, discover.KindCompaction, r.Text()))
	case TurnsRolledBack:
		t.rolledBack += int(r.Get("num_turns").Int())
	case TokenCount:
		t.tokens.setCount(r.Get("info").Object(), t.afterModelItem)
	case TokenUsageRecord:
		t.tokens.setRecord(r.Get("usage").Object())
	case ReviewEntered:
		t.inReview = false
		t.addPrompt(r, at)
	case ReviewExited:
		t.inReview = true
	case UserText:
		if !t.isReviewCopy(r) {
			t.addPrompt(r, at)
		}
	case AgentText:
		if !t.isReviewCopy(r) {
			t.addAnswer(t.newMessage(r, at, discover.Assistant, discover.KindText, r.Text()), at)
		}
	case ToolResult:
		t.results.add(r)
		t.tokens.addResult()
	case ToolCall, ServerToolCall:
		t.addCall(r, at)
	case OtherItem:
		t.addTypedCommands(r, at)
	case OtherEvent:
		t.results.addState(cmp.Or(r.body.Get("call_id").Text(0), r.body.Get("id").Text(0)), r.body)
	}
}

// newMessage is one of a record's.
func (t *messageReader) newMessage(r *Record, at int64, role discover.Role, kind discover.Kind, text string) discover.Message {
	id := ""
	if r.item {
		id = r.body.Get("id").Text(0)
	}
	return discover.Message{ID: t.messageID(id, at), Role: role, Kind: kind, Time: r.Time(), Text: text}
}

// isReviewCopy reports whether a record inside a review, which does not say whose it is, is the reviewer's.
func (t *messageReader) isReviewCopy(r *Record) bool { return t.inReview && r.Get("thread_id") == nil }

// addPrompt gives what the person said, which begins a turn.
func (t *messageReader) addPrompt(r *Record, at int64) {
	t.tokens.clear()
	t.emit(t.newMessage(r, at, discover.User, discover.KindText, r.Text()))
	t.rolledBack = max(t.rolledBack-1, 0)
}

func (t *messageReader) addCall(r *Record, at int64) {
	c, _ := ParseToolCall(r)
	t.setBackgroundCommand(&c, at)
	t.results.apply(&c)
	m := t.newMessage(r, at, discover.Assistant, discover.KindTool, "")
	m.ID, m.Tool = t.messageID(c.ID, at), &c
	t.addAnswer(m, at)
}

// addAnswer gives a part of the model's answer. The record of its tokens follows the parts, so that the last one has them.
func (t *messageReader) addAnswer(m discover.Message, at int64) {
	if t.rolledBack > 0 {
		return
	}
	m.Model, m.Tokens = t.model.modelAt(t.file, at), t.tokens.take()
	t.emit(m)
}

// addFailure gives the error that a turn ended with; some versions record it twice.
func (t *messageReader) addFailure(r *Record, at int64, text string) {
	t.tokens.clear()
	if text == "" || text == t.lastError {
		return
	}
	t.lastError = text
	t.emit(t.newMessage(r, at, discover.System, discover.KindError, text))
}

// addTypedCommands gives the commands of the person's own that an item of the conversation holds, and what they printed.
func (t *messageReader) addTypedCommands(r *Record, at int64) {
	for part := range r.Get("content").Elements() {
		command, output, ok := parseTypedCommand(part.Object().Get("text"))
		if !ok {
			continue
		}
		m := t.newMessage(r, at, discover.System, discover.KindText, output)
		if id := m.ID; output != "" {
			m.ID += ":output"
			t.emit(m)
			m.ID = id
		}
		m.Role, m.Text = discover.User, command
		t.emit(m)
	}
}

// parseTypedCommand takes apart the item that a command of the person's own ("!git status") leaves in the conversation.
func parseTypedCommand(v native.Value) (command, output string, ok bool) {
	const begin, between, before, end = "<user_shell_command>\n<command>\n", "\n</command>\n<result>\n", "\nOutput:\n", "\n</result>\n</user_shell_command>"
	if len(v) < len(begin) || !strings.HasPrefix(string(v[1:min(len(v), 64)]), "<user_shell_command>") {
		return "", "", false
	}
	text, ok := strings.CutPrefix(v.Text(0), begin)
	if !ok {
		return "", "", false
	}
	command, result, ok := strings.Cut(text, between)
	_, output, _ = strings.Cut(result, before)
	return "!" + command, strings.TrimSuffix(output, end), ok
}
