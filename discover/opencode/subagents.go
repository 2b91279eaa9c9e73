package opencode

import (
	"iter"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// IncludesSubagents implements [discover.SubagentTotals].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// children yields the rows of the sessions of a session's sub-agents.
func (d *database) children(session string) iter.Seq[*sqlite.Row] {
	return d.subAgentRows(`SELECT rowid FROM session WHERE parent_id = ? ORDER BY rowid`, session)
}

// descendants yields the rows of the sessions of a session's sub-agents, of their sub-agents and so on, each once.
func (d *database) descendants(session string) iter.Seq[*sqlite.Row] {
	return d.subAgentRows(`WITH RECURSIVE family(id) AS (
			VALUES (?) UNION SELECT session.id FROM session JOIN family ON session.parent_id = family.id)
		SELECT session.rowid AS rowid FROM session JOIN family USING (id) WHERE id <> ?`, session, session)
}

// subAgentRows yields the session rows that a statement on parents finds. There are none if the table has no parents.
func (d *database) subAgentRows(statement string, args ...any) iter.Seq[*sqlite.Row] {
	if !d.sessionTable.Has("parent_id") {
		return func(func(*sqlite.Row) bool) {}
	}
	return d.rows(d.sessionTable, statement, args...)
}

// haveSubAgents returns, in one query, which of the sessions have sub-agents with sessions of their own. The set may have others too.
func (d *database) haveSubAgents(sessions []string) map[string]bool {
	if len(sessions) == 0 || !d.sessionTable.Has("parent_id") {
		return nil
	}
	parents := map[string]bool{}
	for _, id := range d.ids(`SELECT DISTINCT parent_id AS id FROM session WHERE parent_id BETWEEN ? AND ?`, slices.Min(sessions), slices.Max(sessions)) {
		parents[id] = true
	}
	return parents
}

// subAgentUsage adds up the usage of a session's sub-agents, of their sub-agents and so on.
func (d *database) subAgentUsage(session string, all bool) (sum transcript.Usage) {
	for r := range d.descendants(session) {
		u := storedUsage(r)
		if u.Tokens.Total == 0 && all {
			u = transcript.ReadUsage(d.messages(r.Text("id", transcript.NameLimit)), r.Int("time_created"))
		}
		sum.Add(u)
	}
	return sum
}
