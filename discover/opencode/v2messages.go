package opencode

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
)

// Types of messages of OpenCode 2. Those of the user and of the model are named as their roles: a message of the model is one step, which is
// one call of the model.
const (
	compactionType = "compaction" // a summary that replaces the context
	idleType       = "idle"       // the end of a turn
	shellType      = "shell"      // a command that the user gave with "!"
)

// isTurnType reports whether a message says something about the turn. Others may come at any time.
func isTurnType(kind string) bool {
	return slices.Contains([]string{userRole, assistantRole, "synthetic", "skill", compactionType, idleType}, kind)
}

// silentV2Types are the types of messages that are not shown: what the agent adds for the model, and changes of settings.
const silentV2Types = " synthetic system skill agent-switched model-switched location-switched "

// knownV2Types are the types of messages and of their content that OpenCode 2 writes (READ 2.0.26).
const knownV2Types = silentV2Types + "user assistant shell compaction idle "

// addV2Kinds adds the type of a message, and those of its content.
func addV2Kinds(kinds *storage.Kinds, m storedRow) {
	kinds.Add(m.Type)
	if m.Type == assistantRole {
		for c := range storage.Object(m.JSON()).Get("content").Elements() {
			kinds.Add(partType(c.Object()))
		}
	}
}

// Outcomes of a turn.
const (
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)

// outcomeState returns the state of a turn with an outcome; [discover.TurnUnknown] for another outcome.
func outcomeState(outcome string) discover.TurnState {
	return map[string]discover.TurnState{
		"succeeded": discover.TurnDone, outcomeFailed: discover.TurnFailed, outcomeInterrupted: discover.TurnInterrupted,
	}[outcome]
}

// v2Message is a message of OpenCode 2 with what it shows of the turn.
type v2Message struct {
	storedMessage
	parts   []part // the tool calls of an answer
	outcome string // of a turn that has ended
	status  string // of a compaction
	attempt int64  // of an answer: how often the model was asked again
}

// setV2 sets what OpenCode 2 stores in another way than OpenCode 1.
func (s *storedMessage) setV2(kind string, o storage.Object) {
	model, failure := o.Get("model").Object(), o.Get("error").Object()
	s.kind, s.Role, s.Model, s.provider = kind, kind, model.Get("id").Text(nameLimit), model.Get("providerID").Text(nameLimit)
	s.Model = modelName(s.provider, s.Model)
	if s.Variant == "default" {
		s.Variant = ""
	}
	if s.summary = kind == compactionType; s.summary {
		s.Role = assistantRole // the model has written it
	}
	if s.errName = failure.Get("type").Text(nameLimit); s.errName != "" {
		s.failed, s.errText, s.errStatus = true, failure.Get("message").Text(0), failure.Get("status").Int()
	}
	if s.errName == "aborted" {
		s.errName = abortedName
	}
}

// parseV2Message parses a message.
func parseV2Message(r storedRow) v2Message {
	o := storage.Object(r.JSON())
	m := v2Message{storedMessage: parseRow(r, o)}
	m.outcome, m.status = o.Get("outcome").Text(nameLimit), o.Get("status").Text(nameLimit)
	m.attempt = o.Get("retry").Object().Get("attempt").Int()
	for c := range o.Get("content").Elements() {
		if o := c.Object(); partType(o) == toolType {
			m.parts = append(m.parts, parseV2Call(o))
		}
	}
	return m
}

// parseV2Call parses a tool call, for the state of the turn.
func parseV2Call(o storage.Object) (p part) {
	p.parseState(o.Get("state").Object())
	times := o.Get("time").Object()
	p.callID = o.Get("id").Text(nameLimit)
	p.kind, p.Tool, p.Started = toolType, o.Get("name").Text(nameLimit), cmp.Or(times.Get("ran").Int(), times.Get("created").Int())
	return p
}

// openTurn returns the turn that is recorded as being in progress, by the newest message. If its server was told to end, or the user refused a
// call, the answer was aborted, and nothing runs until a service takes it up.
func (v v2Message) openTurn() discover.Turn {
	turn := discover.Turn{State: discover.TurnOpen, Detail: "model", Unanswered: v.kind != assistantRole && v.kind != compactionType}
	switch {
	case v.kind == compactionType && v.status == statusRunning:
		turn.Detail = "compacting"
	case v.kind != assistantRole:
	case v.Completed > 0 && v.failed && v.errName == abortedName:
		return discover.Turn{State: discover.TurnInterrupted}
	case v.Completed > 0:
	case v.attempt > 0:
		turn.Detail = fmt.Sprintf("retrying, attempt %d", v.attempt)
	default:
		t := tail{Last: &v.storedMessage, parts: v.parts}
		turn = t.openTurn()
	}
	return turn
}

// copiedTurn returns the turn of a session whose row has no outcome: one that never ran, a copy of another session, or one that OpenCode 1 has
// stored. It is in no turn.
func (v v2Message) copiedTurn() discover.Turn {
	switch v.kind {
	case "", "synthetic", "skill":
		return discover.Turn{State: discover.TurnNone}
	case idleType:
		return discover.Turn{State: outcomeState(v.outcome), Error: discover.Truncate(v.errText, errorLimit)}
	case compactionType:
		return discover.Turn{State: discover.TurnDone}
	}
	t := tail{Last: &v.storedMessage, parts: v.parts}
	turn := t.state()
	if turn.State == discover.TurnOpen || turn.State == discover.TurnWaiting {
		turn = discover.Turn{State: discover.TurnInterrupted}
	}
	return turn
}

// subagentNote is the first line of the prompt of a sub-agent, which the agent puts before it.
const subagentNote = "You are a subagent spawned by another session.\n"

// v2Words returns what the user wrote in a message, or else the name of its first file.
func v2Words(o storage.Object) string {
	text := strings.TrimPrefix(o.Get("text").Text(0), subagentNote)
	if text = discover.StripContextFiles(text); !isBlank(text) {
		return discover.Truncate(text, promptLimit)
	}
	for f := range o.Get("files").Elements() {
		return fileText(f.Object().Get("mime").Text(nameLimit), cmp.Or(f.Object().Get("name").Text(nameLimit), f.Object().Get("filename").Text(nameLimit)))
	}
	return ""
}

// readV2 is [messageReader.Read] for OpenCode 2. Its messages are in the order in which they were delivered to the model.
func (m *messageReader) readV2(rows v2Messages) (done bool) {
	for row := range rows.Newest(m.cursor) {
		if m.stopped {
			return false
		}
		data, err := row.Read()
		m.Bytes += len(data)
		m.cursor = cursor{Time: row.Seq, Message: row.ID}
		m.storedMessage, m.counted = parseRow(row, data), false
		if err != nil {
			m.add(transcriptItem{Err: err})
		}
		if idle := m.idle; idle != nil && isTurnType(row.Type) {
			if m.idle = nil; !m.failed {
				m.add(*idle)
			}
		}
		m.readV2Row(row, data)
	}
	if m.idle != nil && !m.stopped {
		m.add(*m.idle)
		return true
	}
	return !m.stopped
}

// readV2Row adds what a message contains, the newest first. Messages of an unknown type that have a text are shown.
func (m *messageReader) readV2Row(row storedRow, o storage.Object) {
	text := o.Get("text").Text(0)
	switch {
	case row.Type == userRole:
		if isBlank(text) {
			text = v2Words(o)
		}
		m.add(m.newItem(row.ID, discover.KindText, 0, text))
	case row.Type == assistantRole:
		if m.failed {
			m.add(m.newFailure(row.ID))
		}
		for i, c := range slices.Backward(slices.Collect(o.Get("content").Elements())) {
			if item, ok := m.v2Content(fmt.Sprintf("%s/%d", row.ID, i), c.Object()); ok {
				m.add(item)
			}
		}
	case row.Type == compactionType && m.failed:
		m.add(m.newFailure(row.ID))
	case row.Type == compactionType:
		m.add(m.newItem(row.ID, discover.KindCompaction, 0, o.Get("summary").Text(0)))
	case row.Type == shellType:
		m.add(m.v2Shell(row.ID, o))
	case row.Type == idleType:
		if item := m.newFailure(row.ID); m.failed || o.Get("outcome").Text(nameLimit) == outcomeInterrupted {
			if !m.failed {
				item.Kind = discover.KindInterruption
			}
			m.idle = &item
		}
	case !strings.Contains(silentV2Types, " "+row.Type+" ") && !isBlank(text):
		item := m.newItem(row.ID, discover.KindText, 0, text)
		item.Role = discover.RoleSystem
		m.add(item)
	}
}

// v2Content makes a message of a text or a tool call of an answer. Other content is not shown, unless it has what calls have. Texts are empty
// until they are complete.
func (m *messageReader) v2Content(id string, o storage.Object) (item transcriptItem, ok bool) {
	switch partType(o) {
	case "text":
		text := o.Get("text").Text(0)
		return m.newItem(id, discover.KindText, 0, text), !isBlank(text)
	case "", "reasoning":
		return item, false
	case toolType:
	default:
		return m.tool(id, o)
	}
	state := o.Get("state").Object()
	call := discover.ToolCall{
		ID: o.Get("id").Text(nameLimit), Name: o.Get("name").Text(nameLimit), Input: bytes.Clone(state.Get("input").Raw()),
		State: discover.ToolOpen, Output: contentText(state.Get("content")),
	}
	switch state.Get("status").Text(nameLimit) {
	case "completed":
		call.State = discover.ToolDone
	case "error":
		failure := state.Get("error").Object().Get("message").Text(0)
		if call.State, call.Output = discover.ToolFailed, cmp.Or(failure, call.Output); isRefusal(failure) {
			call.State = discover.ToolRefused
		}
	}
	call.Brief = brief(call)
	times := o.Get("time").Object()
	item = m.newItem(id, discover.KindTool, cmp.Or(times.Get("ran").Int(), times.Get("created").Int()), "")
	item.Tool = &call
	return item, true
}

// contentText returns the texts of what a tool returned.
func contentText(content storage.Value) string {
	var texts []string
	for c := range content.Elements() {
		if text := c.Object().Get("text").Text(0); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// v2Shell makes a message of a command that the user gave with "!".
func (m *messageReader) v2Shell(id string, o storage.Object) transcriptItem {
	item := m.newItem(id, discover.KindTool, 0, "")
	call := discover.ToolCall{
		ID: o.Get("shellID").Text(nameLimit), Name: shellType, Brief: o.Get("command").Text(errorLimit),
		Input: fmt.Appendf(nil, `{"command":%s}`, o.Get("command").Raw()), Output: o.Get("output").Object().Get("output").Text(0),
		State: discover.ToolFailed,
	}
	switch status := o.Get("status").Text(nameLimit); {
	case status == statusRunning:
		call.State = discover.ToolOpen
	case status == "exited" && o.Get("exit").Int() == 0:
		call.State = discover.ToolDone
	}
	item.Role, item.Tool = discover.RoleUser, &call
	return item
}

// v2Session is what only OpenCode 2 stores of a session.
type v2Session struct {
	// claimed is when the turn in progress began. It is set in the transaction that begins a turn, and cleared in the one that ends it. A turn
	// whose server has ended keeps it, and so does one that ended because the user refused a call: the next service takes it up.
	claimed time.Time
	// attempts is how often a service has taken up the turn when it started.
	attempts int64
	// outcome is how the last turn that ended did: succeeded, failed or interrupted. It stays while the next turn runs.
	outcome string
	// workspace is the remote workspace that the session runs in; "" for this machine.
	workspace string
	// worked is when the newest message that shows the turn was last written.
	worked time.Time
}

// setV2 sets what only OpenCode 2 stores.
func (s *session) setV2(r *sqlite.Row) {
	s.v2 = &v2Session{
		claimed: fromMillis(r.Int("time_suspended")), attempts: r.Int("resume_attempts"),
		outcome: r.Text("idle_outcome", nameLimit), workspace: r.Text("workspace_id", nameLimit),
	}
	s.headless, s.ForkedFrom = false, r.Text("fork_session_id", nameLimit)
	s.SetMeta("store", v2SessionTable)
	if !s.v2.claimed.IsZero() {
		s.SetMeta("claimed", true)
	}
	s.SetMeta("workspace", s.v2.workspace)
	if ended := fromMillis(r.Int("time_idle")); ended.After(s.Updated) {
		s.Updated = ended
	}
}

// maxNewestRows bounds how many of the newest messages are searched for one that shows the state of the turn.
const maxNewestRows = 200

// readV2Turn reads the newest messages, which show the turn together with the row of the session.
func (s *session) readV2Turn(rows rowReader) {
	before, n := rows.Failures(), 0
	var newest v2Message // that shows the state of the turn
	asked := ""          // the prompt, if nothing follows it
	for r := range rows.Newest(cursor{}) {
		if at := fromMillis(r.Updated); at.After(s.Updated) {
			s.Updated = at
		}
		if n++; n > maxNewestRows {
			break
		}
		if !isTurnType(r.Type) {
			continue
		}
		m := parseV2Message(r)
		if newest.kind == "" {
			newest, s.v2.worked = m, fromMillis(r.Updated)
			if r.Type == userRole {
				asked = promptText(v2Words(r.JSON()))
			}
		}
		if m.kind == idleType {
			continue // it ends a turn, whose answer precedes it
		}
		s.tail.Last, s.tail.parts = &m.storedMessage, m.parts
		break
	}
	if rows.Failures() == before {
		s.Turn = s.v2Turn(newest)
	}
	if s.Turn.State == discover.TurnOpen {
		s.Turn.Prompt = asked
	}
	s.Turn.Began = s.v2.claimed
	if newest.kind == userRole && s.v2.claimed.IsZero() {
		s.Turn.Began = fromMillis(newest.Created)
	}
}

// v2Turn returns the newest turn, as far as storage shows it.
func (s *session) v2Turn(newest v2Message) discover.Turn {
	if !s.v2.claimed.IsZero() {
		return newest.openTurn()
	}
	switch s.v2.outcome {
	case "":
		return newest.copiedTurn()
	case outcomeFailed:
		text := newest.errText
		if s.tail.Last != nil && text == "" {
			text = s.tail.Last.errText
		}
		return discover.Turn{State: discover.TurnFailed, Error: discover.Truncate(text, errorLimit)}
	}
	return discover.Turn{State: outcomeState(s.v2.outcome)}
}

// v2Messages implements [rowReader] for a session of OpenCode 2. Its messages have no parts.
type v2Messages struct {
	*database
	session any // its ID, as an argument of statements
}

func (v v2Messages) Oldest() iter.Seq[storedRow] {
	return v.query(v.v2.messages, "message", `SELECT rowid FROM `+v2MessageTable+` WHERE session_id = ? ORDER BY seq`, v.session)
}

func (v v2Messages) Newest(before cursor) iter.Seq[storedRow] {
	end := int64(math.MaxInt64)
	if before.Message != "" {
		end = before.Time
	}
	const older = `SELECT rowid FROM ` + v2MessageTable + ` WHERE session_id = ? AND seq < ? ORDER BY seq DESC`
	return v.query(v.v2.messages, "message", older, v.session, end)
}

func (v2Messages) Parts(string) iter.Seq[storedRow] { return func(func(storedRow) bool) {} }

func (v2Messages) PartsBefore(cursor) iter.Seq[storedRow] { return func(func(storedRow) bool) {} }
