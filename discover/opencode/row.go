package opencode

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/sqlite"
)

// maxText is the most characters of one text column that are read.
const maxText = 65536

// newStored makes a session of a row of the session table. Columns come with versions: agent and model with 1.14, cost
// and tokens with 1.15 (SEEN); none was ever removed. Meta: slug (the agent's readable name of it), projectID (root commit
// of the git project, or "global"), agent (the mode of work, as "build" or "plan"), variant (of the model, unless it is the
// usual one).
func newStored(r *sqlite.Row, home, path string) stored {
	text := func(column string) string { return r.Text(column, maxText) }
	s := stored{headless: runPermission(text("permission"))}
	created := r.Int("time_created")
	s.Record = discover.Record{
		Agent: discover.OpenCode, ID: text("id"), Path: path, Home: home, Dir: text("directory"), Title: text("title"),
		Version: text("version"), Created: millis(created), Updated: millis(cmp.Or(r.Int("time_updated"), created)),
		Parent: text("parent_id"), Archived: r.Int("time_archived") > 0,
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	model := native.Object(text("model"))
	s.Model = modelName(member(model, "providerID").Text(shortLimit), member(model, "id").Text(shortLimit))
	variant := member(model, "variant").Text(shortLimit)
	if variant == "default" {
		variant = ""
	}
	s.Meta = map[string]any{}
	for _, fact := range [...]struct{ key, value string }{
		{"slug", text("slug")}, {"projectID", text("project_id")}, {"agent", text("agent")}, {"variant", variant},
	} {
		if fact.value != "" {
			s.Meta[fact.key] = fact.value
		}
	}
	count := func(column string) int64 { return max(r.Int(column), 0) }
	t := discover.Tokens{
		In: count("tokens_input"), Out: count("tokens_output"), Reasoning: count("tokens_reasoning"),
		CacheRead: count("tokens_cache_read"), CacheWrite: count("tokens_cache_write"),
	}
	if t.Total = total(t); t.Total > 0 {
		cost := r.Real("cost")
		s.Tokens, s.Cost = &t, &cost
	}
	return s
}

func total(t discover.Tokens) int64 { return t.In + t.Out + t.Reasoning + t.CacheRead + t.CacheWrite }

// fillTotals adds up the messages where the session has no totals of its own (before 1.15), and finds the size of the
// context: what the newest answered request took.
func (s *stored) fillTotals(st *store) {
	var sum totals
	for m := range st.messages(s.ID).Up() {
		if data := m.Bytes("data", maxPart); data != nil {
			sum.add(parseMessage(data))
		}
	}
	sum.give(s)
}

// totals are the sums over a session's messages.
type totals struct {
	tokens discover.Tokens
	cost   float64
}

func (t *totals) add(m message) {
	if m.role != "assistant" {
		return
	}
	t.cost += m.cost
	t.tokens.In += m.tokens.In
	t.tokens.Out += m.tokens.Out
	t.tokens.Reasoning += m.tokens.Reasoning
	t.tokens.CacheRead += m.tokens.CacheRead
	t.tokens.CacheWrite += m.tokens.CacheWrite
	t.tokens.Total += m.tokens.Total
	if m.tokens.Total > 0 {
		t.tokens.Context = m.tokens.Total
	}
}

func (t *totals) give(s *stored) {
	if s.Tokens != nil {
		s.Tokens.Context = t.tokens.Context
		return
	}
	if t.tokens.Total > 0 {
		s.Tokens, s.Cost = &t.tokens, &t.cost
	}
}
