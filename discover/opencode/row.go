package opencode

import (
	"cmp"
	"context"
	"database/sql"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// sessionRow is a row of the session table. Columns come with versions: agent and model with 1.14, cost and tokens
// with 1.15 (SEEN); none was ever removed.
type sessionRow struct {
	id, parent, slug, dir, title, version  string
	project, permission, agent, model      string
	created, updated, archived             int64
	in, out, reasoning, cacheRead, cacheIn int64
	cost                                   float64
}

// maxText is the most characters of one text column that are read.
const maxText = "65536"

func (r *sessionRow) columns(have map[string]bool) string {
	var list []string
	for _, name := range []string{
		"id", "parent_id", "slug", "directory", "title", "version", "project_id", "permission", "agent", "model",
	} {
		list = append(list, "substr("+text(have, name)+", 1, "+maxText+")")
	}
	for _, name := range []string{"time_created", "time_updated", "time_archived"} {
		list = append(list, integer(have, name))
	}
	for _, name := range []string{
		"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
	} {
		list = append(list, "max("+integer(have, name)+", 0)") // a count
	}
	return strings.Join(append(list, column(have, "cost", "real", "0.0")), ", ")
}

func (r *sessionRow) fields() []any {
	return []any{
		&r.id, &r.parent, &r.slug, &r.dir, &r.title, &r.version, &r.project, &r.permission, &r.agent, &r.model,
		&r.created, &r.updated, &r.archived, &r.in, &r.out, &r.reasoning, &r.cacheRead, &r.cacheIn, &r.cost,
	}
}

// stored makes a session of the row. Meta: slug (the agent's readable name of it), projectID (root commit of the git
// project, or "global"), agent (the mode of work, as "build" or "plan"), variant (of the model, unless it is the usual one).
func (r *sessionRow) stored(home, path string) stored {
	s := stored{headless: runPermission(r.permission)}
	s.Record = discover.Record{
		Agent: discover.OpenCode, ID: r.id, Path: path, Home: home, Dir: r.dir, Title: r.title, Version: r.version,
		Created: millis(r.created), Updated: millis(cmp.Or(r.updated, r.created)), Parent: r.parent, Archived: r.archived > 0,
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	model := native.Object(r.model)
	s.Model = modelName(member(model, "providerID").Text(shortLimit), member(model, "id").Text(shortLimit))
	variant := member(model, "variant").Text(shortLimit)
	if variant == "default" {
		variant = ""
	}
	s.Meta = map[string]any{}
	for _, fact := range [...]struct{ key, value string }{
		{"slug", r.slug}, {"projectID", r.project}, {"agent", r.agent}, {"variant", variant},
	} {
		if fact.value != "" {
			s.Meta[fact.key] = fact.value
		}
	}
	t := discover.Tokens{In: r.in, Out: r.out, Reasoning: r.reasoning, CacheRead: r.cacheRead, CacheWrite: r.cacheIn}
	if t.Total = total(t); t.Total > 0 {
		cost := r.cost
		s.Tokens, s.Cost = &t, &cost
	}
	return s
}

func total(t discover.Tokens) int64 { return t.In + t.Out + t.Reasoning + t.CacheRead + t.CacheWrite }

// fillTotals adds up the messages where the session has no totals of its own (before 1.15), and finds the size of the
// context: what the newest answered request took.
func (s *stored) fillTotals(ctx context.Context, db *native.DB) error {
	var data sql.RawBytes
	var sum totals
	if err := db.Each(ctx, messagesQuery, []any{s.ID}, []any{&data}, func() error {
		sum.add(parseMessage(data))
		return nil
	}); err != nil {
		return err
	}
	sum.give(s)
	return nil
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
