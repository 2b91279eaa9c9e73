package opencode

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// stored is one session as the store has it: the record, and what the evidence about processes needs besides.
type stored struct {
	discover.Record
	last   *message // nil without any
	parts  []part   // of the last message, where they matter
	prompt string   // the first user text as stored, cut
	// headless: `opencode run` made it; it denies the agent to ask questions (SEEN 1.1.65 and 1.18.33).
	headless bool
}

// promptKept is how many characters of a first prompt are read; a record keeps fewer.
const promptKept = 500

// maxPart is the most bytes of a message or part that are read; larger ones are pasted files.
const maxPart = "16000000"

const (
	// A session with its last message, and the first part of its first one, all by index.
	sessionQuery = ` from session s
		left join message m on m.rowid = (select rowid from message where session_id = s.id order by time_created desc, id desc limit 1)
		left join message f on f.rowid = (select rowid from message where session_id = s.id order by time_created, id limit 1)
		left join part p on p.rowid = (select rowid from part where message_id = f.id order by id limit 1)
		where `
	messageColumns = `, m.id, coalesce(cast(m.time_created as integer), 0), coalesce(cast(m.time_updated as integer), 0),
		case when octet_length(m.data) <= ` + maxPart + ` then cast(m.data as text) end,
		case when octet_length(f.data) <= ` + maxPart + ` then cast(f.data as text) end,
		case when octet_length(p.data) <= ` + maxPart + ` then cast(p.data as text) end`
	partsQuery = `select coalesce(cast(p.time_updated as integer), 0), cast(p.data as text) from part p
		where p.message_id = ? and octet_length(p.data) <= ` + maxPart + ` order by p.id`
	// The first text of the first user message that has one the person wrote.
	promptQuery = `select substr(p.data ->> '$.text', 1, 500 /* promptKept */) from message m cross join part p on p.message_id = m.id
		where m.session_id = ? and octet_length(m.data) <= ` + maxPart + ` and octet_length(p.data) <= ` + maxPart + `
		and case when json_valid(m.data) then m.data ->> '$.role' = 'user' end
		and case when json_valid(p.data) then p.data ->> '$.type' = 'text' and coalesce(p.data ->> '$.text', '') <> ''
			and not coalesce(p.data ->> '$.synthetic', 0) and not coalesce(p.data ->> '$.ignored', 0) end
		order by m.time_created, m.id, p.id limit 1`
	messagesQuery = `select cast(m.data as text) from message m where m.session_id = ?
		and octet_length(m.data) <= ` + maxPart + ` order by m.time_created, m.id`
)

// loadFrom reads sessions out of a database: those that the condition holds for.
func loadFrom(ctx context.Context, db *native.DB, home, path, where string, args []any, want discover.Want) ([]stored, error) {
	columns, err := db.Columns(ctx, "session")
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	var row sessionRow
	var messages messageRow
	var out []stored
	query := "select " + row.columns(columns) + messageColumns + sessionQuery + where
	if err := db.Each(ctx, query, args, append(row.fields(), messages.fields()...), func() error {
		if isSessionID(row.id) {
			s := row.stored(home, path)
			messages.give(&s)
			out = append(out, s)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for i := range out {
		if err := out[i].fill(ctx, db, want); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// messageRow is what a row holds of a session's last and first messages.
type messageRow struct {
	id                     sql.NullString
	created, updated       int64
	last, first, firstPart sql.RawBytes
}

func (r *messageRow) fields() []any {
	return []any{&r.id, &r.created, &r.updated, &r.last, &r.first, &r.firstPart}
}

// give adds the last message, and the prompt where it is the first thing that the session holds, as it is but for
// attached files.
func (r *messageRow) give(s *stored) {
	if !r.id.Valid {
		return
	}
	m := parseMessage(r.last)
	m.id, m.created, m.updated = r.id.String, r.created, r.updated
	s.last = &m
	if p := parsePart(r.firstPart); p.kind == "text" && !p.hidden && parseMessage(r.first).role == "user" {
		text := []rune(p.text)
		s.prompt = string(text[:min(len(text), promptKept)])
	}
}

// fill adds what else the messages say.
func (s *stored) fill(ctx context.Context, db *native.DB, want discover.Want) error {
	if needsParts(s.last) {
		if err := s.fillParts(ctx, db); err != nil {
			return err
		}
	}
	if s.last != nil && s.prompt == "" {
		if err := db.Each(ctx, promptQuery, []any{s.ID}, []any{&s.prompt}, func() error { return nil }); err != nil {
			return err
		}
	}
	if want.Tokens || want.Whole {
		if err := s.fillTotals(ctx, db); err != nil {
			return err
		}
	}
	s.finish()
	return nil
}

// fillParts adds the parts of the last message. A tool at work updates its part alone, which shows that the session
// is active; a migration stamps all rows with one time, which shows nothing (SEEN 1.2.1).
func (s *stored) fillParts(ctx context.Context, db *native.DB) error {
	var updated int64
	var data sql.RawBytes
	return db.Each(ctx, partsQuery, []any{s.last.id}, []any{&updated, &data}, func() error {
		p := parsePart(data)
		s.parts = append(s.parts, p)
		if s.last.active = max(s.last.active, p.started); updated > s.last.updated {
			s.last.active = max(s.last.active, updated)
		}
		return nil
	})
}

// finish derives what the record says from what was read.
func (s *stored) finish() {
	s.Turn = turnOf(s.last, s.parts)
	s.Turn.Began, s.Turn.Unanswered = s.last.began(), s.unanswered()
	s.Prompt = cutPrompt(s.prompt)
	m := s.last
	if m == nil {
		return
	}
	for _, ms := range []int64{m.created, m.completed, m.active} {
		if t := millis(ms); t.After(s.Updated) {
			s.Updated = t
		}
	}
	if s.Dir == "" {
		s.Dir = m.cwd
	}
	if m.agent != compaction {
		s.finishModel(m)
	}
	if s.Tokens != nil {
		s.Tokens.Context = max(s.Tokens.Context, m.tokens.Total)
	}
}

// compaction is the agent's own mode of work in which it sums up a long session. The person did not choose it, nor its
// model.
const compaction = "compaction"

// finishModel takes over by what the last message was written. Before 1.14 only the person's own messages name the variant
// of the model (SEEN 1.1.65).
func (s *stored) finishModel(m *message) {
	if m.model != "" {
		s.Model = modelName(m.provider, m.model)
	}
	if m.agent != "" && s.Meta["agent"] != m.agent {
		s.SetMeta("agent", m.agent)
	}
	if m.variant != "" && s.Meta["variant"] != m.variant {
		s.SetMeta("variant", m.variant)
	}
}

// unanswered: the agent makes its own message before it asks the model, and the first part of it when that begins to answer
// (SEEN 1.1.65, 1.18.33).
func (s *stored) unanswered() bool {
	return s.Turn.State == discover.TurnOpen && (s.last.role == "user" || s.last.completed == 0 && len(s.parts) == 0)
}

// began is when the turn of the last message was asked for.
func (m *message) began() time.Time {
	switch {
	case m == nil:
		return time.Time{}
	case m.role == "user":
		return millis(m.created)
	}
	return millis(messageTime(m.asked, m.created))
}

// runPermission is what `opencode run` writes into the sessions it makes.
func runPermission(permission string) bool {
	return strings.Contains(permission, `"question"`) && strings.Contains(permission, `"deny"`)
}

// running are the tool calls of the last message that have not ended.
func (s *stored) running() []part {
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
