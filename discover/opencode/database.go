package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
)

// database is a database of sessions at one moment. Its methods return no errors. They leave out what is damaged; the connection counts it.
type database struct {
	home, path string
	db         *sqlite.DB
	// sessionTables are the tables of sessions, that of OpenCode 2 first and that of OpenCode 1 last: the first has copies of sessions of the last.
	sessionTables           []sessionTable
	messageTable, partTable *sqlite.Table     // nil unless it has the tables of OpenCode 1
	v2                      v2Tables          // nil members unless it has those of OpenCode 2
	parentIDs               map[string]string // those that were read, by session
}

// sessionTable is a table of sessions. Both have the columns id, parent_id and time_updated.
type sessionTable struct {
	*sqlite.Table
	name string
}

// readDatabase returns what read returns for the database at path; the zero value if it cannot be read or has no tables. If a writer
// disturbs the reading, it calls read again. The error is a warning. If a part of the database is damaged, it returns a warning and what it has
// read. A database that has vanished is no error.
func readDatabase[T any](ctx context.Context, home, path string, read func(*database) T) (result T, err error) {
	var damage error
	err = sqlite.Read(ctx, path, func(db *sqlite.DB) error {
		d, err := newDatabase(home, path, db)
		if d == nil {
			result, damage = *new(T), nil
			return err
		}
		result = read(d)
		_, damage = db.Damage()
		damage = cmp.Or(damage, d.v2.failure)
		return nil
	})
	if err != nil {
		return *new(T), newWarning(path, err)
	}
	return result, newWarning(path, damage)
}

// newDatabase finds the tables. The database is nil if there are none.
func newDatabase(home, path string, db *sqlite.DB) (*database, error) {
	tables := db.Tables()
	if _, damage := db.Damage(); len(tables) == 0 {
		return nil, damage
	}
	d := &database{home: home, path: path, db: db, parentIDs: map[string]string{}}
	if err := d.findV2Tables(tables); err != nil {
		return nil, err
	}
	// A database without these tables, or those of OpenCode 2, is another program's, or incomplete. A view is no table.
	for _, name := range []string{v1SessionTable, "message", "part"} {
		switch {
		case slices.Contains(tables, name):
		case d.v2.messages != nil:
			return d, nil
		default:
			return nil, fmt.Errorf("no database of sessions: no such table: %s", name)
		}
	}
	d.addSessionTable(v1SessionTable)
	d.messageTable = db.Table("message", "id", "session_id", "time_created", "time_updated", "data")
	d.partTable = db.Table("part", "id", "message_id", "time_updated", "data")
	return d, nil
}

// v1SessionTable has the sessions of OpenCode 1.
const v1SessionTable = "session"

// addSessionTable adds a table of sessions. Older versions lack some columns: agent and model came with 1.14, cost and tokens with 1.15
// (SEEN); the last line is of OpenCode 2 (READ 2.0.26). No version removed any.
func (d *database) addSessionTable(name string) {
	d.sessionTables = append(d.sessionTables, sessionTable{name: name, Table: d.db.Table(
		name, "id", "parent_id", "project_id", "slug", "directory", "title", "version", "permission", "agent", "model",
		"time_created", "time_updated", "time_archived", "cost",
		"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
		"fork_session_id", "workspace_id", "time_idle", "idle_outcome", "time_suspended", "resume_attempts",
	)})
}

// rows yields the readable rows of a table whose rowids a statement finds.
func (d *database) rows(table *sqlite.Table, statement string, args ...any) iter.Seq[*sqlite.Row] {
	return func(yield func(*sqlite.Row) bool) {
		for found := range d.db.Query(statement, args...) {
			if r := table.Row(found.Int("rowid")); r != nil && !yield(r) {
				return
			}
		}
	}
}

// ids returns the session IDs that a statement finds.
func (d *database) ids(statement string, args ...any) (out []string) {
	for r := range d.db.Query(statement, args...) {
		out = append(out, r.Text("id", nameLimit))
	}
	return out
}

// idsSince returns the IDs of the sessions of OpenCode 1 that began or got a prompt at or after t. It searches only primary keys: IDs contain the time.
func (d *database) idsSince(t time.Time) (out []string) {
	for _, r := range sessionIDsSince(t) {
		out = append(out, d.ids(`SELECT id FROM session WHERE id >= ? AND id < ?`, r.from, r.to)...)
	}
	for _, r := range messageIDsSince(t) {
		out = append(out, d.ids(`SELECT DISTINCT session_id AS id FROM message WHERE id >= ? AND id < ?`, r.from, r.to)...)
	}
	return out
}

// Failures returns how many rows and values could not be read so far.
func (d *database) Failures() int {
	n, _ := d.db.Damage()
	return n
}

// errDuplicateRow means that a damaged page names a part of the table twice.
var errDuplicateRow = errors.New("a table has a row twice")

// entries returns the sessions that may match the filter. It applies only what keys can answer, and [matches] the rest: a session that
// is too old for the filter must be found here too, because its JSON file must not be listed instead. A row that comes twice ends the list:
// damaged pages can name each other in a circle.
func (d *database) entries(q discover.EntryFilter) (found []discover.Entry) {
	listed := map[string]bool{} // by ID: OpenCode 2's table comes first, and its sessions count
	addFrom := func(table, where string, args ...any) {
		seen, first := map[int64]bool{}, len(found)
		for r := range d.db.Query(`SELECT rowid, id, parent_id, time_updated FROM `+table+` `+where, args...) {
			if rowid := r.Int("rowid"); !seen[rowid] {
				seen[rowid] = true
			} else {
				d.db.Fail(errDuplicateRow)
				break
			}
			if id := r.Text("id", nameLimit); isSessionID(id) && !listed[id] {
				d.parentIDs[id] = r.Text("parent_id", nameLimit)
				updated := fromMillis(r.Int("time_updated"))
				found = append(found, discover.Entry{Agent: agentName, Path: d.path, Home: d.home, ID: id, Updated: updated})
			}
		}
		for _, e := range found[first:] {
			listed[e.ID] = len(d.sessionTables) > 1
		}
	}
	add := func(where string, args ...any) {
		for _, t := range d.sessionTables {
			addFrom(t.name, where, args...)
		}
	}
	switch {
	case q.Parents != nil:
		for _, p := range q.Parents {
			if p.Path == d.path {
				add(`WHERE parent_id = ? ORDER BY rowid`, p.ID)
			}
		}
	case q.Refs != nil:
		asked := map[string]bool{}
		for _, r := range q.Refs {
			if !asked[r.ID] {
				add(`WHERE id = ?`, r.ID)
			}
			asked[r.ID] = true
		}
	case q.ID != "":
		add(`WHERE id >= ? AND id < ?`, q.ID, q.ID+"~")
	default:
		add(`ORDER BY rowid`)
	}
	for i := range found {
		found[i].Parent = parentOf(found[i].ID, d.parentID)
	}
	return slices.DeleteFunc(found, func(e discover.Entry) bool { return q.Parents != nil && e.Parent == "" })
}

// parentID returns the parent of a session, as it is stored. ok is false if there is no such session.
func (d *database) parentID(id string) (parent string, ok bool) {
	if parent, ok = d.parentIDs[id]; ok {
		return parent, true
	}
	for _, t := range d.sessionTables {
		for r := range d.db.Query(`SELECT parent_id FROM `+t.name+` WHERE id = ?`, id) {
			parent = r.Text("parent_id", nameLimit)
			d.parentIDs[id] = parent
			return parent, true
		}
	}
	return "", false
}

// parentOf returns the session that another one works for as a sub-agent, as parentID says; "" if there is none. A session whose parent is
// gone is no sub-agent, nor is one that would work for itself in the end: neither would be shown with another session.
func parentOf(id string, parentID func(id string) (parent string, ok bool)) string {
	parent, _ := parentID(id)
	seen := map[string]bool{}
	for at := parent; at != "" && !seen[at]; {
		up, ok := parentID(at)
		if at == id || at == parent && !ok {
			return ""
		}
		seen[at], at = true, up
	}
	return parent
}

// sessions yields the sessions with these IDs, each once, in the order of the tables: neighbours share pages. Their usage includes that of
// their sub-agents.
func (d *database) sessions(ids []string, options discover.ReadOptions) iter.Seq[*session] {
	return func(yield func(*session) bool) {
		left := slices.Clone(ids)
		for _, t := range d.sessionTables {
			for s := range d.sessionsIn(t, left, options) {
				if !yield(s) {
					return
				}
			}
			if t.name == v2SessionTable {
				left = slices.DeleteFunc(left, d.isV2)
			}
		}
	}
}

// sessionsIn is [database.sessions] for one table.
func (d *database) sessionsIn(t sessionTable, ids []string, options discover.ReadOptions) iter.Seq[*session] {
	return func(yield func(*session) bool) {
		parents := d.parents(t, ids)
		for _, rowid := range d.rowids(t, ids) {
			r := t.Row(rowid)
			if r == nil {
				continue
			}
			s := t.parse(r)
			if !isSessionID(s.ID) {
				continue
			}
			d.parentIDs[s.ID] = s.Parent
			s.Parent = parentOf(s.ID, d.parentID)
			s.fill(d.home, d.path, d.messagesOf(t, s.ID), options)
			if s.v2 != nil {
				d.addInbox(s)
			}
			if parents[s.ID] && s.usageKnown {
				s.used.Add(d.subAgentUsage(t, s.ID, options.Tokens || options.Full))
			}
			if !yield(s) {
				return
			}
		}
	}
}

// rowids returns the places of the sessions with these IDs in a table, sorted.
func (d *database) rowids(t sessionTable, ids []string) (rowids []int64) {
	for _, id := range ids {
		for r := range d.db.Query(`SELECT rowid FROM `+t.name+` WHERE id = ? ORDER BY rowid LIMIT 1`, id) {
			rowids = append(rowids, r.Int("rowid"))
		}
	}
	slices.Sort(rowids)
	return slices.Compact(rowids)
}

// parents returns, in one query, which of the sessions have sub-agents with sessions of their own. The set may have others too.
func (d *database) parents(t sessionTable, ids []string) map[string]bool {
	if len(ids) == 0 {
		return nil
	}
	parents := map[string]bool{}
	query := `SELECT DISTINCT parent_id AS id FROM ` + t.name + ` WHERE parent_id BETWEEN ? AND ?`
	for _, id := range d.ids(query, slices.Min(ids), slices.Max(ids)) {
		parents[id] = true
	}
	return parents
}

// subAgentUsage adds up the usage of a session's sub-agents, of their sub-agents and so on, each once. See [parentOf].
func (d *database) subAgentUsage(t sessionTable, session string, all bool) (sum usage) {
	family := strings.ReplaceAll(`WITH RECURSIVE ancestors(id) AS (
			VALUES (?) UNION SELECT TABLE.parent_id FROM TABLE JOIN ancestors USING (id)),
		family(id) AS (
			VALUES (?) UNION SELECT TABLE.id FROM TABLE JOIN family ON TABLE.parent_id = family.id
			WHERE NOT EXISTS (SELECT 1 FROM ancestors WHERE id = TABLE.id))
		SELECT TABLE.rowid AS rowid FROM TABLE JOIN family USING (id) WHERE id <> ?`, "TABLE", t.name)
	for r := range d.rows(t.Table, family, session, session, session) {
		s := t.parse(r)
		if all {
			s.used = readUsage(d.messagesOf(t, s.ID), s.copiedBefore())
		}
		sum.Add(s.used)
	}
	return sum
}

// maxRowJSON is the most bytes of the JSON in a session row that are read.
const maxRowJSON = 65536

// parse reads a row of a table of sessions. The agent and the model are those of the newest prompt (1.14 and later).
func (s sessionTable) parse(r *sqlite.Row) *session {
	text := func(column string) string { return r.Text(column, nameLimit) }
	model := storage.Object(r.Bytes("model", maxRowJSON)) // {"id","providerID","variant"}
	variant := model.Get("variant").Text(nameLimit)
	if variant == "default" {
		variant = ""
	}
	found := &session{
		Record: discover.Record{
			ID: text("id"), Parent: text("parent_id"), Version: text("version"), Dir: r.Text("directory", pathLimit),
			Title: parseTitle(r.Text("title", pathLimit)), Archived: r.Int("time_archived") > 0,
			Created: fromMillis(r.Int("time_created")), Updated: fromMillis(r.Int("time_updated")),
			Model: modelName(model.Get("providerID").Text(nameLimit), model.Get("id").Text(nameLimit)),
			Meta: discover.Facts{
				"agent": text("agent"), "projectID": text("project_id"), "slug": text("slug"), "variant": variant,
			}.WithoutEmpty(),
		},
		headless: isHeadlessPermission(r.Text("permission", maxRowJSON)), used: storedUsage(r),
	}
	if s.name == v2SessionTable {
		found.setV2(r)
	}
	return found
}

// storedUsage reads the sum that the agent keeps with a session (1.15 and later; a migration added it to older sessions). It is the sum
// of the session's own messages: without those that the user undid, and without sub-agents. In a copy (`--fork`), it includes what was
// copied (SEEN 1.18.33).
func storedUsage(r *sqlite.Row) usage {
	count := func(column string) int64 { return max(r.Int(column), 0) }
	return usage{Cost: max(r.Real("cost"), 0), Tokens: sumTokens(discover.Tokens{
		In: count("tokens_input"), Out: count("tokens_output"), Reasoning: count("tokens_reasoning"),
		CacheRead: count("tokens_cache_read"), CacheWrite: count("tokens_cache_write"),
	})}
}

// OpenCode 2 stores sessions in tables of its own, in the database of OpenCode 1 if there is one. It leaves the older tables as they are, and
// copies their sessions once, with their IDs. All that this package knows of OpenCode 2 was read in its source, version 2.0.26, and not seen
// on the program: docs/agents/opencode.md.

// The tables of OpenCode 2. Version 1.18 has an empty one for messages, too: the table of sessions is the mark of OpenCode 2.
const (
	v2SessionTable = "session_v2"
	v2MessageTable = "session_message"
	v2InboxTable   = "session_inbox"
)

// v2Tables are the tables of OpenCode 2 in a database, beside that of sessions.
type v2Tables struct {
	messages *sqlite.Table // nil if there are no sessions of OpenCode 2 that can be read
	hasInbox bool
	failure  error // why they cannot be read
}

// errV2Schema means that a database has sessions of a version of OpenCode 2 that stores them in an unknown way.
var errV2Schema = errors.New("it has sessions of OpenCode 2 that agentctl cannot read")

// findV2Tables finds the tables of OpenCode 2. The error is that of a database which cannot be read at all.
func (d *database) findV2Tables(tables []string) error {
	if !slices.Contains(tables, v2SessionTable) {
		return nil
	}
	d.addSessionTable(v2SessionTable)
	messages := d.db.Table(v2MessageTable, "id", "session_id", "type", "seq", "time_created", "time_updated", "data")
	for _, t := range []struct {
		name    string
		table   *sqlite.Table
		columns []string
	}{
		{v2SessionTable, d.sessionTables[0].Table, []string{"id", "parent_id", "time_created", "time_updated"}},
		{v2MessageTable, messages, []string{"id", "session_id", "type", "seq", "data"}},
	} {
		for _, column := range t.columns {
			if !t.table.Has(column) {
				d.sessionTables = nil
				d.v2.failure = fmt.Errorf("%w: %s has no column %s", errV2Schema, t.name, column)
				if !slices.Contains(tables, v1SessionTable) {
					return d.v2.failure
				}
				return nil
			}
		}
	}
	d.v2 = v2Tables{messages: messages, hasInbox: slices.Contains(tables, v2InboxTable)}
	return nil
}

// isV2 reports whether OpenCode 2 has a session with this ID.
func (d *database) isV2(id string) bool {
	if d.v2.messages != nil {
		for range d.db.Query(`SELECT 1 FROM `+v2SessionTable+` WHERE id = ?`, id) {
			return true
		}
	}
	return false
}

// addInbox adds the prompts that OpenCode 2 has accepted and not delivered yet.
func (d *database) addInbox(s *session) {
	if !d.v2.hasInbox {
		return
	}
	for r := range d.db.Query(`SELECT count(*) AS n, max(time_created) AS at FROM `+v2InboxTable+` WHERE session_id = ?`, s.ID) {
		if n := r.Int("n"); n > 0 {
			s.SetMeta("queued", n)
		}
		if at := fromMillis(r.Int("at")); at.After(s.Updated) {
			s.Updated = at
		}
	}
}

// claimedSessions returns the sessions whose turn is recorded as being in progress.
func (d *database) claimedSessions() []string {
	if d.v2.messages == nil || !d.sessionTables[0].Has("time_suspended") {
		return nil
	}
	return d.ids(`SELECT id FROM ` + v2SessionTable + ` WHERE time_suspended IS NOT NULL`)
}
