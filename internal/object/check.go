package object

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"agentctl/discover"
)

// Objects of another agentctl are untrusted. Check accepts only the contract's own words in the members that this program prints unchanged. All
// other texts are sanitized when they are printed.

// Answer is an object that the agentctl of another machine may print.
type Answer interface {
	// Check returns an error unless the object may be printed here.
	Check() error
	// SetHost sets the machine that it is of.
	SetHost(host string)
}

// isAdapterName reports whether an agent may have that name: it is printed as it is.
func isAdapterName(name string) bool {
	const longest = 64
	return name != "" && len(name) <= longest && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func isWord[W ~string](word string, known ...W) bool { return slices.Contains(known, W(word)) }

// checkTimes returns an error unless all are absent, or times.
func checkTimes(timestamps ...string) error {
	for _, text := range timestamps {
		if _, ok := ParseTimestamp(text); !ok && text != "" {
			return fmt.Errorf("%q is not a time", text)
		}
	}
	return nil
}

// Check implements [Answer], also for a session that is absent.
func (s *Session) Check() error {
	if s == nil {
		return nil
	}
	if !isAdapterName(s.Adapter) || !isWord(s.Status, discover.Running, discover.Waiting, discover.Idle, discover.Stopped, discover.Unknown) ||
		!isWord(s.Outcome, "", discover.Completed, discover.Interrupted, discover.Failed, discover.OutcomeUnknown) {
		return fmt.Errorf("no session of an agent: adapter %q, status %q, outcome %q", s.Adapter, s.Status, s.Outcome)
	}
	if s.ID != nil && (*s.ID == "" || strings.ContainsFunc(*s.ID, unicode.IsSpace)) { // a script takes a line of -q for one ID
		return fmt.Errorf("no ID of a session: %q", *s.ID)
	}
	for i := range s.Matches {
		if err := s.Matches[i].check(); err != nil {
			return err
		}
	}
	times := []string{s.StartedAt, s.LastActivityAt, s.ProcessStartedAt}
	for _, q := range s.Quotas {
		times = append(times, q.ResetsAt, q.Time)
	}
	if s.Quiet != nil {
		times = append(times, s.Quiet.Since)
	}
	return checkTimes(times...)
}

func (s *SearchMatch) check() error {
	for _, m := range slices.Concat([]Message{s.Message}, s.Before, s.After) {
		if err := m.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Message) Check() error {
	kinds := []discover.MessageKind{discover.KindText, discover.KindTool, discover.KindError, discover.KindInterruption, discover.KindCompaction}
	if !isWord(m.Role, discover.RoleUser, discover.RoleAssistant, discover.RoleSystem) || !isWord(m.Kind, kinds...) {
		return fmt.Errorf("no message of a session: role %q, kind %q", m.Role, m.Kind)
	}
	if (m.Tool != nil) != (m.Kind == string(discover.KindTool)) {
		return fmt.Errorf("no message of a session: a call in one of kind %q", m.Kind)
	}
	if t := m.Tool; t != nil && !isWord(t.State, discover.ToolOpen, discover.ToolRunning, discover.ToolWaiting, discover.ToolInterrupted,
		discover.ToolDone, discover.ToolFailed, discover.ToolRefused) {
		return fmt.Errorf("no call of a tool: state %q", t.State)
	}
	return checkTimes(m.Time)
}

func (o *Orphan) SetHost(host string)    { o.Host = host }
func (u *UsageLimit) SetHost(h string)   { u.Host = h }
func (e *Event) SetHost(host string)     { e.Session.Host = host }
func (s *SendResult) SetHost(h string)   { s.Session.Host = h }
func (r *Request) SetHost(host string)   { r.Session.Host = host }
func (s *StopResult) SetHost(h string)   { s.Host = h; s.Session.SetHost(h) }
func (r *ResumeResult) SetHost(h string) { r.Host = h; r.Session.SetHost(h) }
func (s *StoredResult) SetHost(h string) { s.Host = h; s.Session.SetHost(h) }
func (l *LaunchResult) SetHost(h string) { l.Host = h; l.Session.SetHost(h) }

// SetHost names the machine in the rows of its projects and sessions.
func (u *Usage) SetHost(host string) {
	for i := range u.Rows {
		if u.By == "project" || u.By == "session" {
			u.Rows[i].Host = host
		}
	}
}

// SetHost gives each sample the label host.
func (m *Metric) SetHost(host string) {
	for i := range m.Samples {
		m.Samples[i].Labels = append([]Label{{"host", host}}, m.Samples[i].Labels...)
	}
}

// SetHost sets the machine of all sessions.
func (s *SessionRows) SetHost(host string) {
	for i := range s.Sessions {
		s.Sessions[i].Host = host
	}
}

func (e *Event) Check() error {
	if !isWord(e.Type, EventTypes()...) {
		return fmt.Errorf("no event of a session: type %q", e.Type)
	}
	return errors.Join(checkTimes(e.Time), e.Session.Check())
}
func (s *SendResult) Check() error { return s.Session.Check() }
func (r *Request) Check() error {
	if !isWord(r.Result, "", "answered", "accepted", "contradicted", "ended") {
		return fmt.Errorf("no request: result %q", r.Result)
	}
	return r.Session.Check()
}
func (s *StopResult) Check() error   { return s.Session.Check() }
func (l *LaunchResult) Check() error { return l.Session.Check() }

func (s *SessionRows) Check() error {
	for i := range s.Sessions {
		if err := s.Sessions[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// SetHost sets the machine of the session and of its sub-agents' sessions.
func (e *Export) SetHost(host string) {
	e.Session.Host = host
	for i := range e.Children {
		e.Children[i].SetHost(host)
	}
}

func (e *Export) Check() error {
	err := e.Session.Check()
	for i := range e.Messages {
		err = cmp.Or(err, e.Messages[i].Check())
	}
	for i := range e.Children {
		err = cmp.Or(err, e.Children[i].Check())
	}
	return err
}

func (o *Orphan) Check() error {
	if o.Adapter != "" && !isAdapterName(o.Adapter) {
		return fmt.Errorf("no process of an agent: adapter %q", o.Adapter)
	}
	return nil
}

// Check returns an error unless the object of another agentctl may be printed. No count of tokens is negative, and the total is the sum of the rows.
func (u *Usage) Check() error {
	var sum Tokens
	for _, row := range append(slices.Clone(u.Rows), u.Total) {
		switch t := row.Tokens; {
		case row.Adapter != "" && !isAdapterName(row.Adapter):
			return fmt.Errorf("no use of an agent: adapter %q", row.Adapter)
		case min(t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning, t.Total, int64(row.Sessions)) < 0:
			return errors.New("a count of its use is negative")
		}
	}
	for _, row := range u.Rows {
		sum = sum.Plus(row.Tokens)
	}
	if sum != u.Total.Tokens {
		return errors.New("the total of its use is not the sum of the rows")
	}
	return nil
}

func (u *UsageLimit) Check() error {
	if !isAdapterName(u.Adapter) {
		return fmt.Errorf("no limit of an agent: adapter %q", u.Adapter)
	}
	return checkTimes(u.ResetsAt, u.Time)
}

// isMetricName reports whether Prometheus takes a name, as that of a metric or of a label.
func isMetricName(name string) bool {
	const longest = 128
	return name != "" && len(name) <= longest && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}

// Check returns an error unless the metric of another agentctl may be printed.
func (m *Metric) Check() error {
	if !isMetricName(m.Name) {
		return fmt.Errorf("no metric: %q", m.Name)
	}
	for _, s := range m.Samples {
		for _, l := range s.Labels {
			if !isMetricName(l.Name) || l.Name == "host" {
				return fmt.Errorf("no label of a metric: %q", l.Name)
			}
		}
	}
	return nil
}

func (r *ResumeResult) Check() error {
	if !isAdapterName(r.Adapter) || !slices.Contains([]string{"resumed", "planned", "refused", "failed"}, r.Result) {
		return fmt.Errorf("no result of a session: adapter %q, result %q", r.Adapter, r.Result)
	}
	return r.Session.Check()
}

func (s *StoredResult) Check() error {
	results := []string{"done", "planned", "unneeded", "refused", "unsupported", "failed"}
	if !isAdapterName(s.Adapter) || !slices.Contains(results, s.Result) {
		return fmt.Errorf("no result of a session: adapter %q, result %q", s.Adapter, s.Result)
	}
	return s.Session.Check()
}
