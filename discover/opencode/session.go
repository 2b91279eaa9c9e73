package opencode

import (
	"cmp"
	"time"

	"agentctl/discover"
)

// session is one stored session: its record, and what claims need to know beside it.
type session struct {
	discover.Record
	head head
	tail tail
	// headless: `opencode run` made the session.
	headless bool
	// used is what the session's answers took, and contextSize the tokens in its context. Without usageKnown, neither was read.
	used        usage
	contextSize int64
	usageKnown  bool
}

// newSession makes a session of its metadata and its messages, with the usage of its own answers. Meta keys:
//
//   - agent: the agent's mode of work, such as build or plan
//   - projectID: the root commit of the git project, or "global"
//   - slug: the agent's readable name of the session
//   - variant: of the model, unless it is the default
//   - legacy: true if the session is in JSON files, which 1.17 and later neither list nor resume
func newSession(home, path string, m metadata, rows rowReader, options discover.ReadOptions) *session {
	s := &session{headless: m.Headless, head: readHead(rows), tail: readTail(rows)}
	s.Record = discover.Record{
		Agent: agentName, ID: m.ID, Path: path, Home: home, Dir: m.Dir, Title: m.Title, Version: m.Version, Model: m.Model,
		Created: fromMillis(m.Created), Updated: fromMillis(cmp.Or(m.Updated, m.Created)), Parent: m.Parent, Archived: m.Archived,
		Meta:   discover.Facts{{"agent", m.Agent}, {"projectID", m.ProjectID}, {"slug", m.Slug}, {"variant", m.Variant}}.WithoutEmpty(),
		Prompt: promptText(s.head.FirstPrompt), Turn: s.tail.Turn(),
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	if t := s.tail.Updated(); t.After(s.Updated) {
		s.Updated = t
	}
	if options.Full || options.Quotas {
		s.Quotas = s.tail.Quotas()
	}
	if last := s.tail.Last; last != nil && last.Agent != compactionAgent {
		s.setModel(last)
	}
	s.setUsage(m, rows, options.Tokens || options.Full)
	return s
}

// compactionAgent is the mode of work in which the agent sums up a long session. The user chose neither it nor its model.
const compactionAgent = "compaction"

// setModel sets the model, its variant and the agent of the last message. Before 1.14, only the user's messages name the variant
// (SEEN 1.1.65).
func (s *session) setModel(last *storedMessage) {
	s.Model = cmp.Or(last.Model, s.Model)
	for _, fact := range []struct{ name, value string }{{"agent", last.Agent}, {"variant", last.Variant}} {
		if fact.value != "" && s.Meta.Get(fact.name) != fact.value {
			s.SetMeta(fact.name, fact.value)
		}
	}
}

// setUsage sets the usage of the session's own answers: the sum that the agent keeps. The sum of a copy includes the answers that were
// copied, which the other session has in its own sum. Without a sum, and for a copy, only all messages together tell the usage.
func (s *session) setUsage(m metadata, rows rowReader, all bool) {
	isCopy := s.head.FirstCreated > 0 && s.head.FirstCreated < m.Created
	hasSum := m.Usage.Tokens.Total > 0 && !isCopy
	if s.usageKnown = all || hasSum; !s.usageKnown {
		return
	}
	if s.used = m.Usage; !hasSum {
		s.used = readUsage(rows, m.Created)
	}
	if all {
		s.contextSize = readContext(rows)
	} else if s.tail.Last != nil {
		s.contextSize = s.tail.Last.ContextSize()
	}
}

// record returns the record, with the usage. A cost of 0 for answers that took tokens is unknown: see [usage].
func (s *session) record() discover.Record {
	if t, cost := s.used.Tokens, s.used.Cost; t.Total > 0 || s.contextSize > 0 {
		t.Context = s.contextSize
		if s.Tokens = &t; cost > 0 || t.Total == 0 { // a copy has a context before it has used anything
			s.Cost = &cost
		}
	}
	s.TruncateTexts()
	return s.Record
}

// lastStart returns when the newest turn began, or else when the session was created.
func (s *session) lastStart() time.Time {
	if s.Turn.Began.After(s.Created) {
		return s.Turn.Began
	}
	return s.Created
}

// inFirstRun reports whether the newest turn is the one for which `opencode run` created the session.
func (s *session) inFirstRun() bool { return s.headless && s.lastStart().Sub(s.Created) < flushSlack }

// openTools returns the tool calls that a live process may be running: those of the last answer, also if the user has sent messages since.
func (s *session) openTools() []part {
	if s.tail.OpenAnswer != nil {
		return s.tail.OpenAnswer.RunningTools()
	}
	return s.tail.RunningTools()
}
