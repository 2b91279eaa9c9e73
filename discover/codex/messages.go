package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Messages yields the messages of a thread, newest first: from the end of its rollout back, and on into the rollout that it
// continues. It leaves out the turns that the user took back by editing an earlier prompt, as the agent does.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return discover.StreamMessages(agentName, func(out *discover.MessageStream) {
		m := messageReader{MessageStream: out, ctx: ctx, session: r.ID, home: r.Home, newestModel: r.Model}
		seen := map[string]bool{}
		for s := (segment{path: r.Path}); s.path != "" && !seen[s.path]; {
			seen[s.path] = true
			s = m.readSegment(s, len(seen) == 1)
		}
	})
}

// segment is a rollout or its beginning. A fork continues from a place in another thread's rollout; a thread whose user has
// edited an earlier prompt continues from a place in its own older one (SEEN 0.169).
type segment struct {
	path string
	// endByte is the number of its bytes that belong to it, endOrdinal the ordinal of the first record that does not. 0: all do.
	endByte, endOrdinal int64
}

// messageReader reads the rollouts of a thread backwards and yields their messages.
type messageReader struct {
	*discover.MessageStream
	ctx     context.Context // of the call that the reader lives for
	home    string
	session string // the thread; its rollouts may be another's
	// newestModel is the model of the newest turn, "" once an older turn or file is read.
	newestModel string
	results     toolResults
	tokens      answerTokens
	// rolledBack is the number of next older turns that the user took back.
	rolledBack     int
	inReview       bool   // the records are inside a review, where the reviewer's need not name their thread
	lastError      string // the error of the turn's next newer record
	goal           string // the user's next newer goal
	afterModelItem bool   // the next newer record is an item from the model

	// model is that of the turn that is read now, if modelKnown: it is recorded at the turn's beginning and so comes after its messages.
	model      string
	modelKnown bool

	segment     // that is read now
	file        *storage.File
	at          int64   // the offset of the record that is read now
	thread      string  // that the file is named after
	idPrefix    string  // of message IDs that are places in the file
	gap         gap     // of the file, where it is compressed
	gapReported bool    // a warning was yielded for it
	base        segment // that the file continues
}

// readSegment yields the messages of one segment and returns the one that it continues.
func (m *messageReader) readSegment(s segment, newest bool) segment {
	f, g, err := openRollout(m.ctx, s.path)
	if storage.IsNotExist(err) && !newest {
		err = errors.New("the history that another rollout continues is gone")
	}
	if err != nil { // the newest may have been moved or compressed meanwhile: the next snapshot finds it
		m.Warn(s.path, err)
		return segment{}
	}
	defer f.Close()
	return m.readFile(f, g, s, newest)
}

// readFile yields the messages of an open segment and returns the one that it continues.
func (m *messageReader) readFile(f *storage.File, g gap, s segment, newest bool) segment {
	if s.endByte > 0 {
		f = f.Head(g.kept(s.endByte))
	}
	name, _ := parseRolloutName(filepath.Base(s.path))
	m.segment, m.file, m.gap, m.gapReported, m.thread, m.base = s, f, g, false, name.id, segment{}
	if m.idPrefix = cmp.Or(name.segment, name.id) + "@"; m.idPrefix == m.session+"@" {
		m.idPrefix = "" // the thread's first rollout
	}
	if !newest {
		m.newestModel = ""
	}
	if _, err := f.ParseBackward(0, parser(func() string { return m.thread }, m.addLine)); err != nil {
		m.Warn(s.path, err)
	}
	if m.Stopped {
		return segment{}
	}
	return m.base
}

// addLine takes the next older line and reports whether more are wanted.
func (m *messageReader) addLine(l storage.Line, r *rolloutLine) bool {
	if l.Offset < m.gap.start && m.gap.size > 0 && !m.gapReported {
		m.gapReported = true
		m.Warn(m.path, fmt.Errorf("%d MB in the middle of the compressed file are left out: it is too long to unpack whole", m.gap.size>>20))
	}
	switch {
	case l.Cut, l.Rest:
		m.Warn(m.path, m.file.Lost(l))
		if l.Cut {
			r.decodeCut(m.file, l, m.thread)
		}
		if r.Kind == kindToolResult { // its call has ended
			m.results.addText(r.Get("call_id").Text(0), "")
			m.tokens.addResult()
		}
	case mayBeMessage(r.Kind) && (m.endOrdinal == 0 || storage.Object(l.Bytes).Get("ordinal").Int() < m.endOrdinal): // else it was written after the place from which a newer rollout continues
		if r.Kind == kindSessionMeta && l.Offset == 0 {
			m.base = m.baseSegment(r)
		}
		m.at = l.Offset
		m.addRecord(r)
	}
	return !m.Stopped
}

// baseSegment finds the segment that a rollout continues, by its first record.
func (m *messageReader) baseSegment(r *rolloutLine) segment {
	h := parseHistoryBase(r.Get("history_base").Object())
	if h.ID == "" || h.EndByte <= 0 {
		return segment{}
	}
	path, err := findRollout(m.ctx, m.home, h.ID)
	if err != nil {
		m.Warn(m.path, fmt.Errorf("the history that it continues is left out: %w", err))
		return segment{}
	}
	return segment{path: path, endByte: h.EndByte, endOrdinal: h.EndOrdinal}
}

// mayBeMessage reports whether a record of this kind can be a message, or change one.
func mayBeMessage(k lineKind) bool {
	return k != kindUnknown && k != kindReasoning && k != kindSettingsApplied
}

// addRecord makes the messages of one complete record. The same texts are recorded as items of the conversation with
// the model, which hold the agent's own additions as well; those items are not read.
func (m *messageReader) addRecord(r *rolloutLine) {
	defer func() { m.afterModelItem = r.Kind.FromModel() }()
	switch r.Kind {
	case kindTurnContext:
		m.newestModel, m.modelKnown = "", false
	case kindTurnStarted:
		m.tokens.clear()
		m.lastError = ""
	case kindTurnCompleted:
		m.addFailure(r, r.Get("error").Object().Get("message").Text(0))
	case kindTurnError:
		m.addFailure(r, r.Text())
	case kindTurnAborted:
		m.tokens.clear()
		m.add(m.newMessage(r, discover.RoleSystem, discover.KindInterruption, r.Get("reason").Text(0)))
	case kindContextCompacted:
		m.tokens.clear()
		m.add(m.newMessage(r, discover.RoleSystem, discover.KindCompaction, r.Text()))
	case kindTurnsRolledBack:
		m.rolledBack += int(r.Get("num_turns").Int())
	case kindTokenCount:
		m.tokens.setCount(r.Get("info").Object(), m.afterModelItem)
	case kindTokenUsage:
		m.tokens.setRecord(r.Get("usage").Object())
	case kindReviewEntered:
		m.inReview = false
		m.addPrompt(r)
	case kindReviewExited:
		m.inReview = true
	case kindGoal:
		m.addGoal(r)
	case kindUserText:
		if !m.isReviewCopy(r) {
			m.addPrompt(r)
		}
	case kindAgentText:
		if !m.isReviewCopy(r) && r.Text() != "" {
			m.addAnswer(m.newMessage(r, discover.RoleAssistant, discover.KindText, r.Text()))
		}
	case kindToolResult:
		m.results.add(r)
		m.tokens.addResult()
	case kindToolCall, kindServerToolCall:
		m.addCall(r)
	case kindOtherItem:
		m.addTypedCommands(r)
	case kindOtherEvent:
		m.results.addState(cmp.Or(r.body.Get("call_id").Text(0), r.body.Get("id").Text(0)), r.body)
	}
}

// add yields a message, unless the user took its turn back.
func (m *messageReader) add(msg discover.Message) {
	if m.rolledBack == 0 {
		m.Emit(msg)
	}
}

// newMessage returns a message with the ID that the agent gave its item, or else the place of the record in the uncompressed file.
func (m *messageReader) newMessage(r *rolloutLine, role discover.Role, kind discover.MessageKind, text string) discover.Message {
	id := ""
	if r.item {
		id = r.body.Get("id").Text(0)
	}
	place := m.idPrefix + strconv.FormatInt(m.gap.original(m.at), 10)
	return discover.Message{ID: cmp.Or(id, place), Role: role, Kind: kind, Time: r.Time(), Text: text}
}

// isReviewCopy reports whether a record inside a review is the reviewer's: it names no thread.
func (m *messageReader) isReviewCopy(r *rolloutLine) bool {
	return m.inReview && r.Get("thread_id") == nil
}

// addPrompt adds the user's words, with which a turn begins.
func (m *messageReader) addPrompt(r *rolloutLine) {
	m.tokens.clear()
	msg := m.newMessage(r, discover.RoleUser, discover.KindText, r.Text())
	msg.SentID = r.body.Get("client_id").Text(100) // Codex's own interface gives UUIDs (SEEN 0.169)
	m.add(msg)
	m.rolledBack = max(m.rolledBack-1, 0)
}

// addGoal adds a goal of the user's, once.
func (m *messageReader) addGoal(r *rolloutLine) {
	if goal := string(r.body.Get("createdAt").Raw()) + r.Text(); r.isUsersGoal() && goal != m.goal {
		m.goal = goal
		m.tokens.clear()
		m.add(m.newMessage(r, discover.RoleUser, discover.KindText, r.Text()))
	}
}

func (m *messageReader) addCall(r *rolloutLine) {
	c := parseToolCall(r)
	m.results.apply(&c)
	msg := m.newMessage(r, discover.RoleAssistant, discover.KindTool, "")
	msg.Tool = &c
	m.addAnswer(msg)
}

// addAnswer adds a part of the model's answer. The record of an answer's tokens follows its parts: the last part has them.
func (m *messageReader) addAnswer(msg discover.Message) {
	if m.rolledBack == 0 {
		msg.Model, msg.Tokens = m.modelOfTurn(), m.tokens.take()
		m.add(msg)
	}
}

// addFailure adds the error that a turn ended with. Some versions record it twice.
func (m *messageReader) addFailure(r *rolloutLine, text string) {
	m.tokens.clear()
	if text != "" && text != m.lastError {
		m.lastError = text
		m.add(m.newMessage(r, discover.RoleSystem, discover.KindError, text))
	}
}

// addTypedCommands adds the commands that the user typed ("!git status") and what they printed. An item of the conversation
// with the model holds them.
func (m *messageReader) addTypedCommands(r *rolloutLine) {
	for part := range r.Get("content").Elements() {
		command, output, ok := parseTypedCommand(part.Object().Get("text"))
		if !ok {
			continue
		}
		if output != "" {
			msg := m.newMessage(r, discover.RoleSystem, discover.KindText, output)
			msg.ID += ":output"
			m.add(msg)
		}
		m.add(m.newMessage(r, discover.RoleUser, discover.KindText, command))
	}
}

// parseTypedCommand splits the text of such an item into the command and its output.
func parseTypedCommand(v storage.Value) (command, output string, ok bool) {
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

// modelSearchLimit is the number of bytes before a message that are searched for the beginning of its turn. In a longer turn the model
// stays unknown, unless it is the newest turn.
const modelSearchLimit = 256 << 10

// modelOfTurn is the model of the turn that is read now, "" if it is unknown.
func (m *messageReader) modelOfTurn() string {
	if m.modelKnown {
		return m.model
	}
	m.modelKnown, m.model = true, m.newestModel
	_, _ = m.file.Head(m.at).ParseBackward(modelSearchLimit, parser(func() string { return m.thread }, func(l storage.Line, r *rolloutLine) bool {
		found := r.Kind == kindTurnContext && !l.Rest && !l.Cut
		if found {
			m.model = r.Get("model").Text(0)
		}
		return !found
	}))
	return m.model
}

// answerTokens finds the tokens of an answer among the records, which come newest first. It keeps a record of tokens until the answer
// comes. An older record of tokens replaces a newer one: it is nearer to the answer.
type answerTokens struct {
	tokens      *discover.Tokens
	threadTotal discover.Tokens // the thread's total, this answer included
	// directlyAfter: the record directly follows the answer (in 0.42, where the answer's calls and texts are stored once more after it,
	// and the records of 0.160 and later). Otherwise the results of the answer's calls can be between the two.
	directlyAfter bool
	takenTotal    discover.Tokens // the thread's total with the last answer that got its tokens
}

// setRecord sets the tokens from a token_usage_record.
func (a *answerTokens) setRecord(usage storage.Object) {
	a.tokens, a.threadTotal, a.directlyAfter = parseAnswerTokens(usage), discover.Tokens{}, true
}

// setCount sets the tokens from a token_count, which can repeat an older one. afterwards: the next newer record belongs to an answer.
func (a *answerTokens) setCount(info storage.Object, afterwards bool) {
	if !isObject(info) {
		return
	}
	a.tokens, a.threadTotal, a.directlyAfter = parseAnswerTokens(info.Get("last_token_usage").Object()), parseTokens(info.Get("total_token_usage").Object()), afterwards
	if a.threadTotal == a.takenTotal {
		a.tokens = nil
	}
}

// take returns the tokens of the answer that has come, once.
func (a *answerTokens) take() *discover.Tokens {
	t := a.tokens
	if t != nil && a.threadTotal != (discover.Tokens{}) {
		a.takenTotal = a.threadTotal
	}
	a.tokens = nil
	return t
}

// clear drops the tokens: the next older records do not belong to their answer.
func (a *answerTokens) clear() { a.tokens = nil }

// addResult handles the result of a tool call.
func (a *answerTokens) addResult() {
	if a.directlyAfter {
		a.clear()
	}
}
