package opencode

import (
	"iter"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// sessions yields the sessions with these IDs.
func (d *database) sessions(ids []string, options discover.ReadOptions) iter.Seq[*session] {
	return func(yield func(*session) bool) {
		parents := d.haveSubAgents(ids)
		for _, e := range d.withIDs(ids) {
			r := d.sessionTable.Row(e.rowid)
			if r == nil {
				continue
			}
			s := newSession(d.home, d.path, parseSessionRow(r))
			if !isSessionID(s.ID) {
				continue
			}
			s.hasSubAgents = parents[s.ID]
			d.fill(&s, options)
			if !yield(&s) {
				return
			}
		}
	}
}

// fill adds what the messages say, and the usage of sub-agents if the session's own usage is known.
func (d *database) fill(s *session, options discover.ReadOptions) {
	s.fill(d.messages(s.ID), options)
	if all := options.Tokens || options.Full; s.hasSubAgents && (all || s.Tokens != nil) {
		s.addUsage(d.subAgentUsage(s.ID, all))
	}
}

// loadSessions returns the sessions with these IDs.
func (d *database) loadSessions(ids []string, options discover.ReadOptions) (loaded []session) {
	for s := range d.sessions(ids, options) {
		loaded = append(loaded, *s)
	}
	return loaded
}

// maxRowJSON is the most bytes of the JSON in a session row that are read.
const maxRowJSON = 65536

// parseSessionRow reads a row of the session table.
func parseSessionRow(r *sqlite.Row) transcript.Metadata {
	text := func(column string) string { return r.Text(column, transcript.NameLimit) }
	m := transcript.Metadata{
		ID: text("id"), Parent: text("parent_id"), ProjectID: text("project_id"), Slug: text("slug"), Agent: text("agent"), Version: text("version"),
		Dir: r.Text("directory", transcript.PathLimit), Title: transcript.ParseTitle(r.Text("title", transcript.PathLimit)),
		Headless: transcript.IsHeadlessPermission(r.Text("permission", maxRowJSON)), Archived: r.Int("time_archived") > 0,
		Created: r.Int("time_created"), Updated: r.Int("time_updated"), Usage: storedUsage(r),
	}
	m.Model, m.Variant = transcript.ParseModel(r.Bytes("model", maxRowJSON))
	return m
}

// storedUsage reads the sum that the agent keeps with a session (1.15 and later; a migration added it to older sessions). It is the sum
// of the session's own messages: without those that the user undid, and without sub-agents. In a copy (`--fork`), it includes what was
// copied (SEEN 1.18.33).
func storedUsage(r *sqlite.Row) transcript.Usage {
	count := func(column string) int64 { return max(r.Int(column), 0) }
	return transcript.Usage{Cost: r.Real("cost"), Tokens: transcript.SumTokens(discover.Tokens{
		In: count("tokens_input"), Out: count("tokens_output"), Reasoning: count("tokens_reasoning"),
		CacheRead: count("tokens_cache_read"), CacheWrite: count("tokens_cache_write"),
	})}
}
