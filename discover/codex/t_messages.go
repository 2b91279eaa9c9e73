package codex

import (
	"cmp"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// messageBuilder makes messages of the records of a thread, which come newest first.
type messageBuilder struct {
	emit func(discover.Message)
	// recordID returns the ID of a message whose record has none, by the record's offset.
	recordID func(at int64) string

	file           *fsread.File // that the records come from
	rolledBack     int          // the number of next older turns that the user took back
	inReview       bool         // the records are inside a review, where the reviewer's need not name their thread
	lastError      string       // the error of the turn's next newer record
	results        toolResults
	commands       map[string]string // background commands of the file, by number
	tokens         answerTokens
	afterModelItem bool // the next newer record is an item from the model
	model          turnModel
}

// newMessageBuilder returns a builder for a thread whose newest turn runs with a model. It passes each message to emit; recordID
// names a message whose record has no ID by the record's offset in the file.
func newMessageBuilder(model string, emit func(discover.Message), recordID func(at int64) string) *messageBuilder {
	return &messageBuilder{emit: emit, recordID: recordID, model: turnModel{newestModel: model, inNewestTurn: true}}
}

// SetFile says that the next records come from this open rollout. newest: it is the thread's newest one.
func (b *messageBuilder) SetFile(f *fsread.File, newest bool) {
	b.file, b.commands, b.model.inNewestTurn = f, nil, newest
}

// mayBeMessage reports whether a record of this kind can be a message, or change one.
func mayBeMessage(k recordKind) bool {
	return k != kindUnknown && k != kindReasoning && k != kindSettingsApplied
}

// Add makes the messages of one complete record at this offset. The same texts are recorded as items of the conversation with
// the model, which hold the agent's own additions as well; those items are not read.
func (b *messageBuilder) Add(r *rolloutRecord, at int64) {
	defer func() { b.afterModelItem = r.Kind.FromModel() }()
	switch r.Kind {
	case kindTurnContext:
		b.model.passTurnStart()
	case kindTurnStarted:
		b.tokens.clear()
		b.lastError = ""
	case kindTurnCompleted:
		b.addFailure(r, at, r.Get("error").Object().Get("message").Text(0))
	case kindTurnError:
		b.addFailure(r, at, r.Text())
	case kindTurnAborted:
		b.tokens.clear()
		b.add(b.newMessage(r, at, discover.RoleSystem, discover.KindInterruption, r.Get("reason").Text(0)))
	case kindContextCompacted:
		b.tokens.clear()
		b.add(b.newMessage(r, at, discover.RoleSystem, discover.KindCompaction, r.Text()))
	case kindTurnsRolledBack:
		b.rolledBack += int(r.Get("num_turns").Int())
	case kindTokenCount:
		b.tokens.setCount(r.Get("info").Object(), b.afterModelItem)
	case kindTokenUsage:
		b.tokens.setRecord(r.Get("usage").Object())
	case kindReviewEntered:
		b.inReview = false
		b.addPrompt(r, at)
	case kindReviewExited:
		b.inReview = true
	case kindUserText:
		if !b.isReviewCopy(r) {
			b.addPrompt(r, at)
		}
	case kindAgentText:
		if !b.isReviewCopy(r) {
			b.addAnswer(b.newMessage(r, at, discover.RoleAssistant, discover.KindText, r.Text()), at)
		}
	case kindToolResult:
		b.results.add(r)
		b.tokens.addResult()
	case kindToolCall, kindServerToolCall:
		b.addCall(r, at)
	case kindOtherItem:
		b.addTypedCommands(r, at)
	case kindOtherEvent:
		b.results.addState(cmp.Or(r.body.Get("call_id").Text(0), r.body.Get("id").Text(0)), r.body)
	}
}

// add emits a message, unless the user took its turn back.
func (b *messageBuilder) add(m discover.Message) {
	if b.rolledBack == 0 {
		b.emit(m)
	}
}

func (b *messageBuilder) newMessage(r *rolloutRecord, at int64, role discover.Role, kind discover.MessageKind, text string) discover.Message {
	id := ""
	if r.item {
		id = r.body.Get("id").Text(0)
	}
	return discover.Message{ID: b.messageID(id, at), Role: role, Kind: kind, Time: r.Time(), Text: text}
}

// messageID is the ID that the agent gave, or else the place of the record.
func (b *messageBuilder) messageID(id string, at int64) string {
	if id != "" {
		return id
	}
	return b.recordID(at)
}

// isReviewCopy reports whether a record inside a review is the reviewer's: it names no thread.
func (b *messageBuilder) isReviewCopy(r *rolloutRecord) bool {
	return b.inReview && r.Get("thread_id") == nil
}

// maxSentID is how many characters of the ID that a client gave its message are kept. Codex's own interface gives UUIDs (SEEN 0.169).
const maxSentID = 100

// addPrompt adds the user's words, with which a turn begins.
func (b *messageBuilder) addPrompt(r *rolloutRecord, at int64) {
	b.tokens.clear()
	m := b.newMessage(r, at, discover.RoleUser, discover.KindText, r.Text())
	m.SentID = r.body.Get("client_id").Text(maxSentID)
	b.add(m)
	b.rolledBack = max(b.rolledBack-1, 0)
}

func (b *messageBuilder) addCall(r *rolloutRecord, at int64) {
	c, _ := parseToolCall(r)
	b.setBackgroundCommand(&c, at)
	b.results.apply(&c)
	m := b.newMessage(r, at, discover.RoleAssistant, discover.KindTool, "")
	m.ID, m.Tool = b.messageID(c.ID, at), &c
	b.addAnswer(m, at)
}

// addAnswer adds a part of the model's answer. The record of an answer's tokens follows its parts: the last part has them.
func (b *messageBuilder) addAnswer(m discover.Message, at int64) {
	if b.rolledBack > 0 {
		return
	}
	m.Model, m.Tokens = b.model.modelAt(b.file, at), b.tokens.take()
	b.add(m)
}

// addFailure adds the error that a turn ended with. Some versions record it twice.
func (b *messageBuilder) addFailure(r *rolloutRecord, at int64, text string) {
	b.tokens.clear()
	if text == "" || text == b.lastError {
		return
	}
	b.lastError = text
	b.add(b.newMessage(r, at, discover.RoleSystem, discover.KindError, text))
}

// addTypedCommands adds the commands that the user typed ("!git status") and what they printed. An item of the conversation
// with the model holds them.
func (b *messageBuilder) addTypedCommands(r *rolloutRecord, at int64) {
	for part := range r.Get("content").Elements() {
		command, output, ok := parseTypedCommand(part.Object().Get("text"))
		if !ok {
			continue
		}
		m := b.newMessage(r, at, discover.RoleSystem, discover.KindText, output)
		if id := m.ID; output != "" {
			m.ID += ":output"
			b.add(m)
			m.ID = id
		}
		m.Role, m.Text = discover.RoleUser, command
		b.add(m)
	}
}

// parseTypedCommand splits the text of such an item into the command and its output.
func parseTypedCommand(v jsonl.Value) (command, output string, ok bool) {
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
