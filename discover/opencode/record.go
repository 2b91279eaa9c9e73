package opencode

import (
	"cmp"
	"context"
	"iter"
	"time"

	"agentctl/discover"
)

// session is one stored session: its record, and what claims need to know beside it. Meta keys of the record:
//
//   - agent: the agent's mode of work, such as build or plan
//   - projectID: the root commit of the git project, or "global"
//   - slug: the agent's readable name of the session
//   - variant: of the model, unless it is the default
//   - legacy: true if the session is in JSON files, which 1.17 and later neither list nor resume
//   - store: "session_v2" for a session of OpenCode 2
//   - claimed: true while a turn of OpenCode 2 is recorded as being in progress, also if its server is gone
//   - queued: how many prompts OpenCode 2 has accepted and not yet given to the model
//   - workspace: the remote workspace of OpenCode 2 that the session runs in
type session struct {
	discover.Record
	tail tail
	// headless: `opencode run` made the session.
	headless bool
	// used is what the session's answers took (1.15 and later: as the agent has added it up), and contextSize the tokens in its context. Without
	// usageKnown, neither is known.
	used        usage
	contextSize int64
	usageKnown  bool
	// v2 is what only OpenCode 2 stores; nil for a session of OpenCode 1.
	v2 *v2Session
	// hasCopy: OpenCode 2 has copied the session, and the copy is listed.
	hasCopy bool
}

// fill adds what the messages say to what the row or file of the session says.
func (s *session) fill(home, path string, rows rowReader, options discover.ReadOptions) {
	prompt, hasCopies := readHead(rows, s.copiedBefore())
	if s.v2 != nil {
		hasCopies = false // the sum that OpenCode 2 keeps is without them
		s.readV2Turn(rows)
	} else {
		s.tail = readTail(rows)
		s.Turn = s.tail.Turn()
		if s.Turn.State == discover.TurnOpen {
			s.Turn.Prompt = s.tail.unansweredPrompt(rows)
		}
	}
	s.Agent, s.Home, s.Path, s.Prompt = agentName, home, path, promptText(prompt)
	if s.headless {
		s.Source = modeRun
	}
	if s.Updated.IsZero() {
		s.Updated = s.Created
	}
	if at := s.tail.Updated(); at.After(s.Updated) {
		s.Updated = at
	}
	if options.Full || options.Quotas {
		s.Quotas = s.tail.Quotas()
	}
	if last := s.tail.Last; last != nil && last.Agent != compactionAgent && (s.v2 == nil || s.Model == "") {
		s.setModel(last)
	}
	s.setUsage(hasCopies, rows, options.Tokens || options.Full)
}

// compactionAgent is the mode of work in which the agent sums up a long session. The user chose neither it nor its model.
const compactionAgent = "compaction"

// setModel sets the model, its variant and the agent of the last message. Before 1.14, only the user's messages name the variant
// (SEEN 1.1.65).
func (s *session) setModel(last *storedMessage) {
	s.Model = cmp.Or(last.Model, s.Model)
	s.SetMeta("agent", last.Agent)
	s.SetMeta("variant", last.Variant)
}

// setUsage sets the usage of the session's own answers: what the answers say if all are to be read, else the sum that the agent keeps. That
// of a session with copied messages includes the copied answers, which the other session has in its own sum.
func (s *session) setUsage(hasCopies bool, rows rowReader, all bool) {
	switch s.usageKnown = all || s.used.Tokens.Total > 0 && !hasCopies; {
	case all:
		s.used, s.contextSize = readUsage(rows, s.copiedBefore()), readContext(rows)
	case !s.usageKnown:
		s.used = usage{}
	case s.tail.Last != nil:
		s.contextSize = s.tail.Last.ContextSize()
	}
}

// copiedBefore is when the session was created, in milliseconds, if it may have messages that were copied into it: those that are older. OpenCode
// 2 says so; of its other sessions it is 0.
func (s *session) copiedBefore() int64 {
	if s.v2 != nil && s.ForkedFrom == "" {
		return 0
	}
	return s.Created.UnixMilli()
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

// Read implements [discover.Adapter]. The Meta keys are those of [session].
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	subAgents := &legacySubAgents{ids: map[string]map[string][]string{}}
	return readSessions(ctx, entries, options, func(s *session, _ rowReader) (discover.Record, bool) {
		if isLegacyPath(s.Path) && (options.Tokens || options.Full) {
			subAgents.addUsage(ctx, s)
		}
		return s.record(), true
	})
}
