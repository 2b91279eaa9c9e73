package opencode

import (
	"iter"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
)

// session is one session as the store has it: the record, and what the evidence about processes needs besides.
type session struct {
	discover.Record
	last        *message // nil without any
	parts       []part   // of the last message, where they matter
	firstPrompt string   // the first user text as stored, cut
	// hasSubAgents: sub-agents have sessions of their own for it, in the same database.
	hasSubAgents bool
	// headless: `opencode run` made it; it denies the agent to ask questions (SEEN 1.1.65 and 1.18.33).
	headless bool
	// unread: the last message cannot be read, or not all of its parts that matter.
	unread bool
}

// promptLimit is how many characters of a first prompt are read; a record keeps fewer.
const promptLimit = 500

// maxPart is the most bytes of a message or part that are read; larger ones are pasted files.
const maxPart = 16_000_000

// Orders of the messages of a session and of the parts of a message.
const (
	oldestFirst = `SELECT rowid FROM message WHERE session_id = ? ORDER BY time_created, id`
	newestFirst = `SELECT rowid FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC`
	newestOnly  = newestFirst + ` LIMIT 1`
	beforeThis  = `SELECT rowid FROM message WHERE session_id = ? AND (time_created, id) < (?, ?) ORDER BY time_created DESC, id DESC`

	partsInOrder = `SELECT rowid FROM part WHERE message_id = ? ORDER BY id`
	partsBefore  = `SELECT rowid FROM part WHERE message_id = ? AND id < ? ORDER BY id DESC`
)

// messages are those of a session in an order, as far as they can be read.
func (st *database) messages(session, order string, before ...any) iter.Seq[*sqlite.Row] {
	return st.rows(st.messageTable, order, append([]any{session}, before...)...)
}

// parts are those of a message, as far as they can be read.
func (st *database) parts(message string) iter.Seq[*sqlite.Row] {
	return st.rows(st.partTable, partsInOrder, message)
}

// sessions yields the sessions with these ids. Those that cannot be read, or only in part, are lost.
func (st *database) sessions(ids []string, want discover.ReadOptions) iter.Seq[*session] {
	return func(yield func(*session) bool) {
		helped := st.haveSubAgents(ids)
		for _, l := range st.withIDs(ids) {
			r := st.sessionTable.Row(l.rowid)
			if r == nil {
				st.damage.unreadable = append(st.damage.unreadable, l.id)
				continue
			}
			before := st.damageCount()
			if s := st.newSession(r); isSessionID(s.ID) {
				s.hasSubAgents = helped[s.ID]
				s.fill(st, want)
				if st.damageCount() > before {
					st.damage.partial = append(st.damage.partial, s.ID)
				}
				if !yield(&s) {
					return
				}
			}
		}
	}
}

// loadSessions is all of them.
func (st *database) loadSessions(ids []string, want discover.ReadOptions) []session {
	var out []session
	for s := range st.sessions(ids, want) {
		out = append(out, *s)
	}
	return out
}

// fill adds what the messages say.
func (s *session) fill(st *database, want discover.ReadOptions) {
	first := s.fillPrompt(st)
	before := st.damageCount()
	for m := range st.messages(s.ID, newestOnly) {
		created := m.Int("time_created")
		last := parseMessage(m.Bytes("data", maxPart))
		last.created, last.updated = created, m.Int("time_updated")
		if s.last = &last; needsParts(s.last) {
			s.fillParts(st, m.Text("id", shortLimit))
		}
	}
	s.unread = st.damageCount() > before
	s.fillUsage(st, first, want.Tokens || want.Full)
	s.finish()
	if want.Full || want.Quotas {
		s.setQuota()
	}
}

// fillPrompt finds the first text of the first user message that has one the person wrote. Mostly it is the first thing
// that a session holds. It returns the time of the first message.
func (s *session) fillPrompt(st *database) (first int64) {
	for m := range st.messages(s.ID, oldestFirst) {
		if first == 0 {
			first = m.Int("time_created")
		}
		if jsonl.Object(m.Bytes("data", maxPart)).Get("role").Text(shortLimit) != "user" {
			continue
		}
		for r := range st.parts(m.Text("id", shortLimit)) {
			if p := parsePart(r.Bytes("data", maxPart)); p.kind == "text" && p.text != "" && !p.hidden {
				s.firstPrompt = p.text
				return first
			}
		}
	}
	return first
}

// fillParts adds the parts of the last message. A tool at work updates its part alone, which shows that the session
// is active; a migration stamps all rows with one time, which shows nothing (SEEN 1.2.1).
func (s *session) fillParts(st *database, last string) {
	for r := range st.parts(last) {
		data := r.Bytes("data", maxPart)
		if data == nil {
			continue
		}
		p := parsePart(data)
		s.parts = append(s.parts, p)
		s.last.active = max(s.last.active, p.started)
		if updated := r.Int("time_updated"); updated > s.last.updated {
			s.last.active = max(s.last.active, updated)
		}
	}
}

// finish derives what the record says from what was read.
func (s *session) finish() {
	s.Turn = turnOf(s.last, s.parts)
	if s.unread {
		s.Turn = discover.Turn{}
	}
	s.Turn.Began, s.Turn.Unanswered = s.last.turnStart(), s.unanswered()
	s.Prompt = prompt(s.firstPrompt)
	m := s.last
	if m == nil {
		return
	}
	for _, ms := range []int64{m.created, m.completed, m.active} {
		if t := timeOf(ms); t.After(s.Updated) {
			s.Updated = t
		}
	}
	if s.Dir == "" {
		s.Dir = m.dir
	}
	if m.agent != compaction {
		s.finishModel(m)
	}
	if s.Tokens != nil && s.Tokens.Context == 0 {
		s.Tokens.Context = m.contextSize()
	}
}

// compaction is the agent's own mode of work in which it sums up a long session. The person did not choose it, nor its
// model.
const compaction = "compaction"

// finishModel takes over by what the last message was written. Before 1.14 only the person's own messages name the variant
// of the model (SEEN 1.1.65).
func (s *session) finishModel(m *message) {
	if m.model != "" {
		s.Model = m.model
	}
	if m.agent != "" && s.Meta.Get("agent") != m.agent {
		s.SetMeta("agent", m.agent)
	}
	if m.variant != "" && s.Meta.Get("variant") != m.variant {
		s.SetMeta("variant", m.variant)
	}
}

// unanswered: the agent makes its own message before it asks the model, and the first part of it when that begins to answer
// (SEEN 1.1.65, 1.18.33).
func (s *session) unanswered() bool {
	return s.Turn.State == discover.TurnOpen && (s.last.role == "user" || s.last.completed == 0 && len(s.parts) == 0)
}

// turnStart is when the turn of the last message was asked for.
func (m *message) turnStart() time.Time {
	switch {
	case m == nil:
		return time.Time{}
	case m.role == "user":
		return timeOf(m.created)
	}
	return timeOf(messageIDTime(m.parentID, m.created))
}

// isHeadlessPermission is what `opencode run` writes into the sessions it makes.
func isHeadlessPermission(permission string) bool {
	return strings.Contains(permission, `"question"`) && strings.Contains(permission, `"deny"`)
}

// runningTools are the tool calls of the last message that have not ended.
func (s *session) runningTools() []part {
	var out []part
	if s.last != nil && s.last.completed == 0 && !s.last.failed {
		for _, p := range s.parts {
			if p.running() {
				out = append(out, p)
			}
		}
	}
	return out
}
