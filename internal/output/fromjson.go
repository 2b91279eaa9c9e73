package output

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/search"
	"agentctl/proc"
)

// isAdapterName reports whether an agent may have that name: it is printed as it is.
func isAdapterName(name string) bool {
	const longest = 64
	return name != "" && len(name) <= longest && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// ParseSession converts the JSON object of another agentctl back to a session: what the object has of it. What the object says is not believed: words
// that this program prints as they are must be the contract's own.
func ParseSession(s *Session) (discover.Session, error) {
	r := &discover.Record{
		Agent: discover.Agent(s.Adapter), Path: s.Path, Home: s.Home, Dir: s.CWD, Title: s.Title, Prompt: s.Prompt, Model: s.Model, Branch: s.Branch,
		Version: s.Version, Source: s.Source, Tokens: (*discover.Tokens)(s.Tokens), Cost: finite(s.Cost), Parent: s.ParentID, ForkedFrom: s.ForkedFrom,
	}
	out := discover.Session{
		Record: r, Status: discover.Status(s.Status), Outcome: discover.Outcome(s.Outcome), WaitingFor: s.WaitingFor,
		WaitingOn: s.WaitingOn.parse(), Error: s.Error, Group: s.Group, Host: s.Host,
	}
	if s.ID != nil {
		r.ID = *s.ID
	}
	statuses := []discover.Status{discover.Running, discover.Waiting, discover.Idle, discover.Stopped, discover.Unknown}
	outcomes := []discover.Outcome{"", discover.Completed, discover.Interrupted, discover.Failed, discover.OutcomeUnknown}
	if !isAdapterName(s.Adapter) || !slices.Contains(statuses, out.Status) || !slices.Contains(outcomes, out.Outcome) {
		return out, fmt.Errorf("no session of an agent: adapter %q, status %q, outcome %q", s.Adapter, s.Status, s.Outcome)
	}
	times := timeParser{}
	r.Created, r.Updated = times.parse(s.StartedAt), times.parse(s.LastActivityAt)
	started := times.parse(s.ProcessStartedAt)
	pids := s.PIDs
	if len(pids) == 0 && s.PID != 0 {
		pids = []int{s.PID}
	}
	for _, pid := range pids {
		out.Processes = append(out.Processes, proc.Process{ID: proc.ID{PID: pid}, Started: started})
		started = time.Time{} // it is the first one's
	}
	for _, q := range s.Quotas {
		r.Quotas = append(r.Quotas, discover.Quota{
			Name: q.Name, Used: finite(q.Used), Reached: q.Reached, Resets: times.parse(q.ResetsAt), Text: q.Text, Time: times.parse(q.Time),
		})
	}
	if e := s.Evidence; e != nil {
		claim := discover.Claim{Strength: parseStrength(e.Strength), Kind: e.Kind, Detail: e.Detail}
		out.Evidence = []discover.Evidence{{Claim: claim, Accepted: true}}
	}
	parseMeta(&out, s.Meta)
	return out, times.err
}

func parseMeta(out *discover.Session, meta discover.Facts) {
	for _, f := range meta {
		switch yes, _ := f.Value.(bool); f.Name {
		case "archived":
			out.Archived = yes
		case "shared":
			out.Shared = yes
		case "turnDetail":
			out.Turn.Detail, _ = f.Value.(string)
		default:
			out.Meta = out.Meta.With(f.Name, f.Value)
		}
	}
}

func parseStrength(word string) discover.Strength {
	for _, s := range []discover.Strength{discover.Weak, discover.Strong, discover.Exact} {
		if s.String() == word {
			return s
		}
	}
	return 0
}

// timeParser parses timestamps and keeps the first error.
type timeParser struct{ err error }

func (p *timeParser) parse(timestamp string) time.Time {
	if timestamp == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%q is not a time", timestamp)
	}
	return t
}

// ParseResources returns what the object says that the session uses.
func ParseResources(s *Session) Resources {
	r := Resources{Processes: s.Processes, Orphans: s.Orphans, Changes: s.Changes}
	depths := map[int]int{}
	for i := range r.Processes {
		if depth, ok := depths[r.Processes[i].PPID]; ok {
			r.Processes[i].Depth = depth + 1
		}
		depths[r.Processes[i].PID] = r.Processes[i].Depth
	}
	return r
}

// ParseMessage converts the JSON object of another agentctl back to a message.
func ParseMessage(m *Message) (discover.Message, error) {
	out := discover.Message{
		ID: m.ID, Session: m.Session, Role: discover.Role(m.Role), Kind: discover.MessageKind(m.Kind), Model: m.Model, Tokens: (*discover.Tokens)(m.Tokens),
	}
	roles := []discover.Role{discover.RoleUser, discover.RoleAssistant, discover.RoleSystem}
	kinds := []discover.MessageKind{discover.KindText, discover.KindTool, discover.KindError, discover.KindInterruption, discover.KindCompaction}
	if !slices.Contains(roles, out.Role) || !slices.Contains(kinds, out.Kind) {
		return out, fmt.Errorf("no message of a session: role %q, kind %q", m.Role, m.Kind)
	}
	times := timeParser{}
	out.Time = times.parse(m.Time)
	if m.Text != nil {
		out.Text = *m.Text
	}
	if (m.Tool != nil) != (out.Kind == discover.KindTool) {
		return out, fmt.Errorf("no message of a session: a call in one of kind %q", m.Kind)
	}
	if t := m.Tool; t != nil {
		out.Tool = &discover.ToolCall{ID: t.ID, Name: t.Name, Input: t.Input, Brief: t.Brief, State: discover.ToolState(t.State)}
		states := []discover.ToolState{
			discover.ToolOpen, discover.ToolRunning, discover.ToolWaiting, discover.ToolInterrupted, discover.ToolDone, discover.ToolFailed, discover.ToolRefused,
		}
		if !slices.Contains(states, out.Tool.State) {
			return out, fmt.Errorf("no call of a tool: state %q", t.State)
		}
		if t.Output != nil {
			out.Tool.Output = *t.Output
		}
	}
	return out, times.err
}

// ParseFound converts the JSON object of another agentctl back to what was found in a session.
func ParseFound(s *Session) (search.Found, error) {
	session, err := ParseSession(s)
	found := search.Found{Session: session}
	for _, m := range s.Matches {
		match := search.Match{}
		if match.Message, err = ParseMessage(&m.Message); err != nil {
			return found, err
		}
		for _, span := range m.Spans {
			match.Spans = append(match.Spans, span.parse(match.Message))
		}
		for _, part := range []struct {
			from []Message
			to   *[]discover.Message
		}{{m.Before, &match.Before}, {m.After, &match.After}} {
			for _, other := range part.from {
				message, err := ParseMessage(&other)
				if err != nil {
					return found, err
				}
				*part.to = append(*part.to, message)
			}
		}
		if len(match.Spans) > 0 {
			found.Matches = append(found.Matches, match)
		}
	}
	return found, err
}

// parse returns the match in its text; of one whose place is not stated, as in an input, only the match.
func (s *SearchSpan) parse(m discover.Message) search.FieldSpan {
	text := m.Text
	if m.Tool != nil {
		text = m.Tool.Output
	}
	runes := []rune(text)
	if s.Start == nil || s.End == nil || *s.Start < 0 || *s.End < *s.Start || *s.End > len(runes) {
		return search.FieldSpan{Field: search.Field(s.In), Text: s.Text, Span: search.Span{Start: 0, End: len(s.Text)}}
	}
	start := len(string(runes[:*s.Start]))
	return search.FieldSpan{Field: search.Field(s.In), Text: text, Span: search.Span{Start: start, End: start + len(string(runes[*s.Start:*s.End]))}}
}
