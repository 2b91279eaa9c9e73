package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
)

// group is what a row stands for.
type group string

const (
	byDay     group = "day"
	byWeek    group = "week"
	byMonth   group = "month"
	byProject group = "project"
	byModel   group = "model"
	byAgent   group = "agent"
	bySession group = "session"
)

func (g group) ofTime() bool { return g == byDay || g == byWeek || g == byMonth }

// sums adds up what sessions used.
type sums struct {
	by       group
	zone     *time.Location
	prices   map[string]config.Price // nil: nothing is estimated
	unpriced map[string]bool
	rows     map[usageRowKey]*sum
	total    sum
	projects Projects
	parents  map[usageRowKey]usageRowKey // of sub-agents, by session
}

// usageRowKey identifies a row. Only sessions have an agent.
type usageRowKey struct {
	agent discover.Agent
	text  string
}

// sum is the sum of a row.
type sum struct {
	tokens              discover.Tokens
	cost, estimated     float64
	hasCost, hasUnknown bool // of a part of the tokens the agent says the cost, or does not
	hasPrice, hasNone   bool // a part of the tokens has a price, or none
	sessions            int
	title, project      string
}

func newSums(by group, zone *time.Location) *sums {
	return &sums{
		by: by, zone: zone, unpriced: map[string]bool{}, rows: map[usageRowKey]*sum{}, projects: Projects{}, parents: map[usageRowKey]usageRowKey{},
	}
}

func (s *sums) add(u *discover.SessionUsage) {
	seen := map[*sum]bool{&s.total: true}
	if !u.IsSubagent() {
		s.total.sessions++
	}
	var fixed *sum // the row of all answers
	if !s.by.ofTime() && s.by != byModel {
		fixed = s.row(s.keyOf(u))
	}
	for _, a := range u.Usage {
		row := fixed
		if row == nil {
			row = s.row(usageRowKey{text: s.answerKey(a)})
		}
		if !seen[row] && !u.IsSubagent() {
			row.sessions++
		}
		seen[row] = true
		s.addAnswer(row, a)
		s.addAnswer(&s.total, a)
	}
}

func (s *sums) keyOf(u *discover.SessionUsage) usageRowKey {
	switch s.by {
	case byProject:
		return usageRowKey{text: s.projects.Of(u.Dir)}
	case byAgent:
		return usageRowKey{text: string(u.Agent)}
	}
	key := usageRowKey{u.Agent, u.ID}
	if u.IsSubagent() && u.Parent != "" {
		s.parents[key] = usageRowKey{u.Agent, u.Parent}
	}
	row := s.row(key)
	row.title, row.project = cmp.Or(u.Title, u.Prompt), s.projects.Of(u.Dir)
	return key
}

// answerKey returns the row of an answer: its time or its model; "" where that is not known.
func (s *sums) answerKey(a discover.Usage) string {
	key := s.timeKey(a.Time)
	switch {
	case s.by == byModel:
		return a.Model
	case !a.From.IsZero() && s.timeKey(a.From) != key:
		return ""
	}
	return key
}

// timeKey returns the row of a time; "" for none.
func (s *sums) timeKey(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch local := t.In(s.zone); s.by {
	case byWeek:
		year, week := local.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case byMonth:
		return local.Format("2006-01")
	default:
		return local.Format(time.DateOnly)
	}
}

func (s *sums) row(key usageRowKey) *sum {
	row := s.rows[key]
	if row == nil {
		row = &sum{}
		s.rows[key] = row
	}
	return row
}

func (s *sums) addAnswer(to *sum, a discover.Usage) {
	to.tokens = to.tokens.Plus(a.Tokens)
	to.cost += a.Cost
	to.hasCost = to.hasCost || a.CostKnown
	to.hasUnknown = to.hasUnknown || !a.CostKnown && a.Tokens.Total > 0
	if s.prices == nil || a.Tokens.Total == 0 {
		return
	}
	usd, ok := s.estimate(a)
	if !ok {
		to.hasNone, s.unpriced[cmp.Or(a.Model, "unknown model")] = true, true
		return
	}
	to.estimated, to.hasPrice = to.estimated+usd, true
}

// mergeSubagents adds the rows of sub-agents to those of the sessions that they work for in the end.
func (s *sums) mergeSubagents() {
	for _, key := range slices.SortedFunc(maps.Keys(s.parents), func(a, b usageRowKey) int { return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.text, b.text)) }) {
		top := key
		for range len(s.parents) { // a damaged store may have a loop
			parent, isSubagent := s.parents[top]
			if !isSubagent {
				break
			}
			top = parent
		}
		if row := s.rows[top]; row != nil && top != key {
			row.merge(s.rows[key])
			delete(s.rows, key)
		}
	}
}

func (r *sum) merge(o *sum) {
	r.tokens = r.tokens.Plus(o.tokens)
	r.cost, r.estimated = r.cost+o.cost, r.estimated+o.estimated
	r.hasCost, r.hasUnknown = r.hasCost || o.hasCost, r.hasUnknown || o.hasUnknown
	r.hasPrice, r.hasNone = r.hasPrice || o.hasPrice, r.hasNone || o.hasNone
}

// report returns the rows: times in their order, all else by tokens.
func (s *sums) report(since, until time.Time) object.Usage {
	s.mergeSubagents()
	u := object.Usage{
		By: string(s.by), Since: object.Timestamp(since), Until: object.Timestamp(until), Rows: []object.UsageRow{},
		Total: s.total.row(usageRowKey{}), UnpricedModels: slices.Sorted(maps.Keys(s.unpriced)),
	}
	for key, row := range s.rows {
		u.Rows = append(u.Rows, row.row(key))
	}
	s.by.sort(u.Rows)
	return u
}

func (r *sum) row(key usageRowKey) object.UsageRow {
	out := object.UsageRow{
		Key: key.text, Adapter: string(key.agent), Title: r.title, Tokens: object.Tokens(r.tokens), CostPartial: r.hasCost && r.hasUnknown,
		ReckonedPartial: r.hasPrice && r.hasNone, Sessions: r.sessions,
	}
	if key.agent != "" {
		out.Project = r.project
	}
	if r.hasCost {
		out.Cost = &r.cost
	}
	if r.hasPrice {
		out.ReckonedCost = &r.estimated
	}
	return out
}

// estimate returns what an answer costs by the prices. It is not ok if the file has no price for the model, or for a kind of the
// tokens that it used.
func (s *sums) estimate(a discover.Usage) (usd float64, ok bool) {
	price, ok := priceOf(s.prices, a.Model)
	for _, part := range []struct {
		tokens int64
		usd    *float64
	}{{a.Tokens.In, price.In}, {a.Tokens.Out, price.Out}, {a.Tokens.CacheRead, price.CacheRead}, {a.Tokens.CacheWrite, price.CacheWrite}} {
		switch {
		case part.tokens == 0:
		case part.usd == nil:
			return 0, false
		default:
			usd += float64(part.tokens) * *part.usd / 1e6
		}
	}
	return usd, ok
}

// priceOf returns the price of a model, or of its name without the provider that precedes it.
func priceOf(prices map[string]config.Price, model string) (p config.Price, ok bool) {
	if p, ok = prices[model]; !ok {
		p, ok = prices[model[strings.LastIndexByte(model, '/')+1:]]
	}
	return p, ok
}
