// Package object has the objects of the JSON contract: their structs, their conversion from sessions, and the checks for those of another
// machine. docs/json.md and schema.json describe them.
package object

import (
	"cmp"
	_ "embed"
	"math"
	"strconv"
	"time"

	"agentctl/discover"
	"agentctl/discover/quiet"
	"agentctl/proc/multiplexer"
)

// Session is the JSON object of a session, the same for every command. Its field names are stable; docs/json.md
// documents them. Unknown facts are omitted, except for id and meta.
type Session struct {
	ID               *string        `json:"id"`
	Host             string         `json:"host,omitempty"`
	Adapter          string         `json:"adapter"`
	Status           string         `json:"status"`
	Outcome          string         `json:"outcome,omitempty"`
	WaitingFor       string         `json:"waitingFor,omitempty"`
	WaitingOn        *WaitingOn     `json:"waitingOn,omitempty"`
	InterruptedIn    *InterruptedIn `json:"interruptedIn,omitempty"`
	WasOpen          bool           `json:"wasOpen,omitempty"`
	Quiet            *Quiet         `json:"quiet,omitempty"`
	Error            string         `json:"error,omitempty"`
	PID              int            `json:"pid,omitempty"`
	PIDs             []int          `json:"pids,omitempty"`
	ProcessStartedAt string         `json:"processStartedAt,omitempty"`
	TTY              string         `json:"tty,omitempty"`
	Terminal         *Terminal      `json:"terminal,omitempty"`
	StartedAt        string         `json:"startedAt,omitempty"`
	LastActivityAt   string         `json:"lastActivityAt,omitempty"`
	StoppedAt        string         `json:"stoppedAt,omitempty"`
	CWD              string         `json:"cwd,omitempty"`
	Title            string         `json:"title,omitempty"`
	Prompt           string         `json:"prompt,omitempty"`
	Model            string         `json:"model,omitempty"`
	Branch           string         `json:"branch,omitempty"`
	Version          string         `json:"version,omitempty"`
	Source           string         `json:"source,omitempty"`
	Tokens           *Tokens        `json:"tokens,omitempty"`
	Cost             *float64       `json:"cost,omitempty"`
	Group            string         `json:"group,omitempty"`
	ParentID         string         `json:"parentId,omitempty"`
	ForkedFrom       string         `json:"forkedFrom,omitempty"`
	Path             string         `json:"path,omitempty"`
	Home             string         `json:"home,omitempty"`
	Quotas           []Quota        `json:"quotas,omitempty"`
	Changes          *Changes       `json:"changes,omitempty"`
	ChangesError     string         `json:"changesError,omitempty"`
	Processes        []Process      `json:"processes,omitempty"`
	Orphans          []Process      `json:"orphans,omitempty"`
	Evidence         *Evidence      `json:"evidence,omitempty"`
	Meta             discover.Facts `json:"meta"`
	Explain          *Explanation   `json:"explain,omitempty"`
	// Answer is the final text of the assistant in a turn that the command waited for. It is absent if the turn failed
	// or has no such text.
	Answer string `json:"answer,omitempty"`
	// Matches are the messages in which `search` has found something, the oldest first.
	Matches []SearchMatch `json:"matches,omitempty"`
}

// Tokens counts tokens as the agent reports them.
type Tokens struct {
	In         int64 `json:"in"`
	Out        int64 `json:"out"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Reasoning  int64 `json:"reasoning"`
	Total      int64 `json:"total"`
	Context    int64 `json:"context,omitempty"`
	Window     int64 `json:"window,omitempty"`
}

// Plus is [discover.Tokens.Plus].
func (t Tokens) Plus(o Tokens) Tokens { return Tokens(discover.Tokens(t).Plus(discover.Tokens(o))) }

// Evidence is the evidence on which the status rests.
type Evidence struct {
	Strength string `json:"strength"`
	Kind     string `json:"kind"`
	Detail   string `json:"detail"`
}

// WaitingOn is the JSON object of the tool call that a waiting session needs the user for.
type WaitingOn struct {
	ID        string   `json:"id,omitempty"`
	Tool      string   `json:"tool"`
	Brief     string   `json:"brief,omitempty"`
	Path      string   `json:"path,omitempty"`
	Questions []string `json:"questions,omitempty"`
	Diff      *Diff    `json:"diff,omitempty"`
}

// InterruptedIn is the JSON object of what a session was doing when its process ended in the middle of a turn.
type InterruptedIn struct {
	Tool   string `json:"tool,omitempty"`
	Brief  string `json:"brief,omitempty"`
	Path   string `json:"path,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// Quiet is the JSON object of a running session of which nothing moves.
type Quiet struct {
	// For is in seconds.
	For           float64    `json:"for"`
	Since         string     `json:"since"`
	OpenCall      *WaitingOn `json:"openCall,omitempty"`
	ChildrenCPU   float64    `json:"childrenCpu"`
	Connections   int        `json:"connections"`
	Suspended     bool       `json:"suspended,omitempty"`
	WatchesFiles  bool       `json:"watchesFiles,omitempty"`
	MayAwaitModel bool       `json:"mayAwaitModel,omitempty"`
}

// NewQuiet converts what is known of a quiet session to its JSON object, as of now.
func NewQuiet(q *quiet.Quiet, now time.Time) *Quiet {
	return &Quiet{
		now.Sub(q.Since).Truncate(time.Second).Seconds(), Timestamp(q.Since), newWaitingOn(q.OpenCall), math.Round(100*q.ChildrenCPU) / 100,
		q.Connections, q.Suspended, q.WatchesFiles, q.MayAwaitModel,
	}
}

// Diff is the JSON object of the lines that a call adds and removes.
type Diff struct {
	Added   int  `json:"added"`
	Removed *int `json:"removed,omitempty"`
}

// Terminal is the JSON object of the pane of a terminal multiplexer, or of the window of a terminal emulator.
type Terminal struct {
	Kind    string `json:"kind"`
	Session string `json:"session,omitempty"`
	Window  string `json:"window,omitempty"`
	Pane    string `json:"pane,omitempty"`
}

// Quota is a usage limit of the agent's provider, as the agent recorded it.
type Quota struct {
	Name     string   `json:"name,omitempty"`
	Used     *float64 `json:"used,omitempty"`
	Reached  bool     `json:"reached,omitempty"`
	ResetsAt string   `json:"resetsAt,omitempty"`
	Text     string   `json:"text,omitempty"`
	Time     string   `json:"time,omitempty"`
}

// NewSession converts a session to its JSON object.
func NewSession(s discover.Session) (out Session) {
	if s.ID != "" {
		out.ID = &s.ID
	}
	out.Host = s.Host
	out.Adapter, out.Status, out.Outcome = string(s.Agent), string(s.Status), string(s.Outcome)
	out.WaitingFor, out.WaitingOn, out.Error = s.WaitingFor, newWaitingOn(s.WaitingOn), s.Error
	out.InterruptedIn, out.WasOpen = newInterruptedIn(s.CutOff()), s.WasOpen()
	out.StartedAt, out.LastActivityAt = Timestamp(s.Created), Timestamp(s.Updated)
	if s.Status == discover.Stopped {
		out.StoppedAt = out.LastActivityAt
	}
	for _, p := range s.AllProcesses() {
		out.PIDs = append(out.PIDs, p.ID.PID)
	}
	if len(out.PIDs) > 0 {
		out.PID, out.ProcessStartedAt = out.PIDs[0], Timestamp(s.AllProcesses()[0].Started)
	}
	if len(out.PIDs) == 1 {
		out.PIDs = nil
	}
	out.TTY, out.Terminal = s.TTY(), NewTerminal(s.Pane())
	out.CWD, out.Title, out.Prompt = s.Dir, s.Title, s.Prompt
	out.Model, out.Branch, out.Version, out.Source = s.Model, s.Branch, s.Version, s.Source
	out.Tokens, out.Cost = (*Tokens)(s.Tokens), finite(s.Cost)
	for _, q := range s.Quotas {
		out.Quotas = append(out.Quotas, newQuota(q))
	}
	out.Group, out.ParentID, out.ForkedFrom = s.Group, s.Parent, s.ForkedFrom
	out.Path, out.Home = s.Path, s.Home
	out.Evidence, out.Meta = newEvidence(&s), newMeta(&s)
	return out
}

// newEvidence returns the best accepted evidence. For a session whose status is unknown, it returns the evidence
// that was not sufficient.
func newEvidence(s *discover.Session) *Evidence {
	if len(s.Evidence) == 0 {
		return nil
	}
	e := s.Evidence[0]
	switch {
	case e.Accepted, e.Unreadable != "":
		return &Evidence{e.Strength.String(), evidenceKind(e), evidenceDetail(e)}
	case s.Status == discover.Unknown:
		return &Evidence{e.Strength.String(), evidenceKind(e), evidenceDetail(e) + " (" + e.Why + ")"}
	}
	return nil
}

// evidenceKind is the kind of the evidence; "process" if the adapter gives none, because the presence of the
// process is all there is.
func evidenceKind(e discover.Evidence) string { return cmp.Or(e.Kind, "process") }

// evidenceDetail is why the evidence is unreadable, or else its detail; the process if the adapter gives none.
func evidenceDetail(e discover.Evidence) string {
	return cmp.Or(e.Unreadable, e.Detail, e.Process.String())
}

// newMeta adds to the facts of the agent those of ours that have no JSON field.
func newMeta(s *discover.Session) discover.Facts {
	meta := s.Meta
	if meta == nil {
		meta = discover.Facts{}
	}
	if s.Archived {
		meta = meta.With("archived", true)
	}
	if s.Shared {
		meta = meta.With("shared", true)
	}
	if s.Status.Live() {
		meta = meta.With("turnDetail", s.Turn.Detail)
	}
	return meta
}

func newWaitingOn(on *discover.WaitingOn) *WaitingOn {
	if on == nil {
		return nil
	}
	return &WaitingOn{on.ID, on.Tool, on.Brief, on.Path, on.Questions, (*Diff)(on.Diff)}
}

func newInterruptedIn(in *discover.CutOff) *InterruptedIn {
	switch {
	case in == nil:
		return nil
	case in.Call != nil:
		return &InterruptedIn{Tool: in.Call.Tool, Brief: in.Call.Brief, Path: in.Call.Path}
	}
	return &InterruptedIn{Prompt: in.Prompt}
}

// NewTerminal converts the pane to its JSON object; nil for none.
func NewTerminal(p *multiplexer.Pane) *Terminal {
	if p == nil {
		return nil
	}
	return &Terminal{string(p.Kind), p.Session, p.Window, p.Pane}
}

func newQuota(q discover.Quota) Quota {
	return Quota{Name: q.Name, Used: finite(q.Used), Reached: q.Reached, ResetsAt: Timestamp(q.Resets), Text: q.Text, Time: Timestamp(q.Time)}
}

// finite returns nil for a number that JSON cannot express.
func finite(n *float64) *float64 {
	if n == nil || math.IsInf(*n, 0) || math.IsNaN(*n) {
		return nil
	}
	return n
}

// Known is the value of a member that may be absent, which is the zero value then.
func Known[T any](member *T) (value T) {
	if member != nil {
		value = *member
	}
	return value
}

// SetHost sets the machine of a session that another agentctl has printed, if there is one.
func (s *Session) SetHost(host string) {
	if s != nil {
		s.Host = host
	}
}

// Live reports whether a process runs the session, as far as is known.
func (s *Session) Live() bool { return discover.Status(s.Status).Live() }

// AllPIDs returns the pids of its processes, the first one first.
func (s *Session) AllPIDs() []int {
	if len(s.PIDs) == 0 && s.PID != 0 {
		return []int{s.PID}
	}
	return s.PIDs
}

// Name is the [SessionName] of the session.
func (s *Session) Name() string { return SessionName(s.Host, s.ID, s.PID) }

// SessionName is a session's ID, H:ID of one on another host, else pid:N of its process, else "-". It may contain what a terminal interprets.
func SessionName(host string, id *string, pid int) string {
	switch {
	case id != nil:
		return HostPrefix(host) + *id
	case pid != 0:
		return HostPrefix(host) + "pid:" + strconv.Itoa(pid)
	}
	return HostPrefix(host) + "-"
}

// HostPrefix is what begins the ID of a session on another host, as agentctl takes it: "H:". It is "" for a session of this machine.
func HostPrefix(host string) string {
	if host == "" {
		return ""
	}
	return host + ":"
}

// Shared reports whether its process serves other sessions too.
func (s *Session) Shared() bool { return s.Meta["shared"] == true }

// TurnDetail is what the turn of a live session is doing, in the agent's words.
func (s *Session) TurnDetail() string {
	text, _ := s.Meta["turnDetail"].(string)
	return text
}

// LastActivity is [discover.Session.LastActivity].
func (s *Session) LastActivity() time.Time {
	for _, text := range []string{s.LastActivityAt, s.StartedAt} {
		if at, ok := ParseTimestamp(text); ok {
			return at
		}
	}
	if s.Shared() && s.ID != nil { // the age of a server says nothing about one of its sessions
		return time.Time{}
	}
	at, _ := ParseTimestamp(s.ProcessStartedAt)
	return at
}

// facts returns the session with what sessions are ordered by.
func (s *Session) facts() discover.Session {
	r := &discover.Record{Agent: discover.Agent(s.Adapter), ID: Known(s.ID), Path: s.Path, Updated: s.LastActivity()}
	r.Created, _ = ParseTimestamp(s.StartedAt)
	return discover.Session{Record: r, Status: discover.Status(s.Status), Outcome: discover.Outcome(s.Outcome), Error: s.Error}
}

// StoppedRecently is [discover.Session.StoppedRecently].
func (s *Session) StoppedRecently(now time.Time) bool { return s.facts().StoppedRecently(now) }

// SortByAttention is [discover.SortByAttention], in place.
func SortByAttention(sessions []Session, now time.Time) {
	copy(sessions, reordered(sessions, func(list []discover.Session) []discover.Session {
		discover.SortByAttention(list, now)
		return list
	}))
}

// Merge is [discover.SessionFilter.Merge].
func Merge(sessions []Session, filter discover.SessionFilter) []Session {
	return reordered(sessions, filter.Merge)
}

// reordered returns the sessions in the order into which their facts are put, as far as order keeps them.
func reordered(sessions []Session, order func([]discover.Session) []discover.Session) []Session {
	list, byRecord := make([]discover.Session, len(sessions)), map[*discover.Record]Session{}
	for i := range sessions {
		list[i] = sessions[i].facts()
		byRecord[list[i].Record] = sessions[i]
	}
	var out []Session
	for _, s := range order(list) {
		out = append(out, byRecord[s.Record])
	}
	return out
}

// Explanation says why a session has its status, and lists all evidence about it.
type Explanation struct {
	// Verdict is the reason for the status, as a sentence.
	Verdict string `json:"verdict"`
	// Turn is the state of the newest turn according to storage.
	Turn string `json:"turn"`
	// Considered is the evidence, accepted evidence first.
	Considered []ConsideredEvidence `json:"considered"`
}

// ConsideredEvidence is one piece of evidence, and whether correlation accepted it.
type ConsideredEvidence struct {
	// PID is 0 of what a killed process has left behind, if that does not name its process.
	PID      int    `json:"pid,omitempty"`
	Strength string `json:"strength"`
	Kind     string `json:"kind"`
	Detail   string `json:"detail"`
	// Turn is the state of the turn that the process itself reports; "" if it reports none.
	Turn     string `json:"turn,omitempty"`
	Accepted bool   `json:"accepted"`
	Why      string `json:"why"`
}

// Explain describes the evidence about a session.
func Explain(s discover.Session) *Explanation {
	x := &Explanation{Verdict: s.Reason, Turn: turnWord(s.Turn.State), Considered: []ConsideredEvidence{}}
	for _, e := range s.Evidence {
		c := ConsideredEvidence{
			PID: e.Process.PID, Strength: e.Strength.String(), Kind: evidenceKind(e), Detail: evidenceDetail(e),
			Accepted: e.Accepted, Why: e.Why,
		}
		if e.Claim.Turn != nil {
			c.Turn = turnWord(e.Claim.Turn.State)
		}
		x.Considered = append(x.Considered, c)
	}
	return x
}

func turnWord(t discover.TurnState) string {
	words := map[discover.TurnState]string{
		discover.TurnNone: "none", discover.TurnOpen: "open", discover.TurnWaiting: "waiting", discover.TurnDone: "done",
		discover.TurnInterrupted: "interrupted", discover.TurnFailed: "failed",
	}
	return cmp.Or(words[t], "unknown")
}

// Timestamp formats t as RFC 3339 in UTC with milliseconds. It returns "" for the zero time and for a year that
// RFC 3339 cannot express.
func Timestamp(t time.Time) string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// ParseTimestamp parses a JSON timestamp. It is not ok if it is absent.
func ParseTimestamp(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// schema is maintained by hand. Tests compare it with the structs and with real output.
//
//go:embed schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of everything that --json prints.
func Schema() string { return schema }

// SchemaID is the $id of the schema, without parsing it: a test compares the two.
func SchemaID() string { return "urn:agentctl:schema:1" }
