package opencode

import (
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// session is one stored session: its record, and what claims need to know beside it.
type session struct {
	discover.Record
	head transcript.Head
	tail transcript.Tail
	// headless: `opencode run` made the session.
	headless bool
	// hasSubAgents: sessions of sub-agents work for it, in the same database.
	hasSubAgents bool
}

// newSession makes a session of its metadata. Meta keys:
//
//   - agent: the agent's mode of work, such as build or plan
//   - projectID: the root commit of the git project, or "global"
//   - slug: the agent's readable name of the session
//   - variant: of the model, unless it is the default
//   - legacy: true if the session is in JSON files, which 1.17 and later neither list nor resume
func newSession(home, path string, m transcript.Metadata) session {
	s := session{headless: m.Headless}
	s.Record = discover.Record{
		Agent: agentName, ID: m.ID, Path: path, Home: home, Dir: m.Dir, Title: m.Title, Version: m.Version, Model: m.Model,
		Created: transcript.Time(m.Created), Updated: transcript.Time(cmp.Or(m.Updated, m.Created)), Parent: m.Parent, Archived: m.Archived,
		Meta: discover.Facts{{"agent", m.Agent}, {"projectID", m.ProjectID}, {"slug", m.Slug}, {"variant", m.Variant}}.WithoutEmpty(),
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	s.setUsage(m.Usage)
	return s
}

// fill adds what the messages say. The usage does not include sub-agents.
func (s *session) fill(rows transcript.Rows, options discover.ReadOptions) {
	s.head, s.tail = transcript.ReadHead(rows), transcript.ReadTail(rows)
	s.Prompt, s.Turn = transcript.Prompt(s.head.FirstPrompt), s.tail.Turn()
	if t := s.tail.Updated(); t.After(s.Updated) {
		s.Updated = t
	}
	s.fillUsage(rows, options.Tokens || options.Full)
	if options.Full || options.Quotas {
		s.Quotas = s.tail.Quotas()
	}
	last := s.tail.Last
	if last == nil {
		return
	}
	if last.Agent != compactionAgent {
		s.fillModel(last)
	}
}

// compactionAgent is the mode of work in which the agent sums up a long session. The user chose neither it nor its model.
const compactionAgent = "compaction"

// fillModel sets the model, its variant and the agent of the last message. Before 1.14, only the user's messages name the variant
// (SEEN 1.1.65).
func (s *session) fillModel(last *transcript.Message) {
	s.Model = cmp.Or(last.Model, s.Model)
	for _, fact := range []struct{ name, value string }{{"agent", last.Agent}, {"variant", last.Variant}} {
		if fact.value != "" && s.Meta.Get(fact.name) != fact.value {
			s.SetMeta(fact.name, fact.value)
		}
	}
}

// lastCreated returns when the last message was created; zero if there is none.
func (s *session) lastCreated() time.Time {
	if s.tail.Last == nil {
		return time.Time{}
	}
	return transcript.Time(s.tail.Last.Created)
}
