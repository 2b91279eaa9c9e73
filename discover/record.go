// Package discover finds coding-agent sessions and says what is true of them now.
//
// Data flows one way: claims (what the live processes show) are correlated with records (what the agents' storage holds) to
// sessions, which the caller filters and renders. One package for each agent reads. This package decides which process runs
// which session ([Correlate]) and what its status is (setStatus); nothing else does. Nothing is kept between calls and nothing
// is written.
package discover

import (
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// Agent names a coding agent as users and JSON do. Each has a folder below this one, which holds all that is known of it.
type Agent string

// Record is what an agent's storage says of one session. There is no liveness in it: storage does not know
// whether a process still runs.
type Record struct {
	Agent Agent
	// ID is the agent's own session id.
	ID string
	// Path is the native file or database the record was read from.
	Path string
	// Home is the agent's data root the record belongs to (~/.claude, ~/.codex, ~/.local/share/opencode, …).
	Home string
	// Dir is the session's working directory, as the agent recorded it last.
	Dir string
	// Title is what the user or the agent called the session; Prompt the first real user prompt, at most
	// [PromptLimit] characters. Both are raw text from a transcript: clean them before a terminal sees them.
	Title, Prompt string
	Model         string
	// Branch is the git branch the agent recorded ("" where it recorded none or a detached head).
	Branch string
	// Version is that of the agent that wrote the newest record.
	Version string
	// Source is how the session was started: print, tui, exec, run, server, sdk, bg, ….
	Source string
	// Created and Updated are the times of the first and the newest record, UTC; zero where not known.
	Created, Updated time.Time
	Turn             Turn
	// Tokens and Cost (USD) are nil unless the agent itself states them and they were asked for or cheap.
	Tokens *Tokens
	Cost   *float64
	// Quotas are the agent's last words on how much of what its provider allows is used, with [ReadOptions.Full] or [ReadOptions.Quotas].
	Quotas []Quota `json:",omitempty"`
	// Parent is the id of the session whose sub-agent this is; sub-agents are hidden unless asked for.
	Parent string
	// Sub: this is a sub-agent's session, though the agent may not have recorded whose.
	Sub bool `json:",omitzero"`
	// Team is the name of the team of agents that the session is in. Its Parent, which leads the team, has started a process for it,
	// with a terminal of its own: it is no sub-agent. The user sees it, and can speak to it, as with any other session.
	Team string `json:",omitempty"`
	// ForkedFrom is the id of the session this one was copied from.
	ForkedFrom string
	// Archived: the user put the session away in the agent.
	Archived bool
	// Meta holds the agent's own extra facts.
	Meta Facts
}

// PromptLimit is the most characters (runes) of a first prompt that a record keeps, ErrorLimit that of an agent's error that is kept.
const (
	PromptLimit = 200
	ErrorLimit  = 1000
)

// TurnState is how far a session's newest turn has got.
type TurnState uint8

const (
	// TurnUnknown: the storage is too old, torn or unreadable to tell.
	TurnUnknown TurnState = iota
	// TurnNone: nothing was asked yet.
	TurnNone
	// TurnOpen: a turn is in progress (or was, when its process died).
	TurnOpen
	// TurnWaiting: the turn is blocked on the user; see [Turn.WaitingFor].
	TurnWaiting
	// TurnDone: the turn ended well.
	TurnDone
	// TurnInterrupted: the turn was cut short, by the user or by an abort.
	TurnInterrupted
	// TurnFailed: the turn ended with the agent's own error; see [Turn.Error].
	TurnFailed
)

// Turn is the state of a session's newest turn.
type Turn struct {
	State TurnState
	// WaitingFor is "permission", "question" or the agent's own word, when State is TurnWaiting.
	WaitingFor string
	// WaitingOn is the call that it is blocked on, when State is TurnWaiting; nil where that is not known.
	WaitingOn *WaitingOn `json:"On,omitempty"`
	// OpenCall is the newest call without a result of a turn that is open or waits; nil where there is none, or it is not known.
	OpenCall *WaitingOn `json:",omitempty"`
	// Prompt is the prompt of an open turn while nothing follows it, at most [PromptLimit] characters; "" where it is not known.
	Prompt string `json:",omitempty"`
	// Error is the agent's own text, when State is TurnFailed.
	Error string
	// Detail says in a few words what the turn is doing ("tool: Bash"), where it is known.
	Detail string
	// Began is when the turn was asked for, by the agent's own record, UTC; zero where the end of the storage that was
	// read does not tell.
	Began time.Time `json:",omitzero"`
	// Unanswered: it is open, and nothing of the model's answer is in storage so far. A turn that fails at once never gets
	// further. False where the storage does not tell.
	Unanswered bool `json:",omitzero"`
	// SilentSince is set where TurnWaiting is inferred from a call without a result (Codex): it is when the call was made. The status
	// function withdraws the inference if a child of the process started later. Zero where the agent records that it waits.
	SilentSince time.Time `json:"Silent,omitzero"`
	// Headless: it was asked of a headless run, which ends with it or before it, so that no other process has it in
	// progress. False where the storage does not tell.
	Headless bool `json:",omitzero"`
	// Cut, of a turn that is [TurnInterrupted]: the process has ended in the middle of it, and has recorded its end. No user has interrupted it.
	Cut bool `json:",omitzero"`
}

func (t Turn) Ended() bool {
	return t.State == TurnDone || t.State == TurnInterrupted || t.State == TurnFailed
}

// endsLike reports whether two readings of a turn are the same. When the turn began does not count: [ReadOptions] decide whether that is
// read.
func (t Turn) endsLike(u Turn) bool {
	t.Began, u.Began = time.Time{}, time.Time{}
	return reflect.DeepEqual(t, u)
}

// Tokens counts tokens as the agent states them. Context is the size of the context now, Window the most that the model
// takes, where the agent states it; Total is the agent's own total where it has one, else the sum.
type Tokens struct {
	In, Out, CacheRead, CacheWrite, Reasoning, Total, Context, Window int64
}

// Plus adds up what was used. What two sessions have in their contexts is no sum.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{
		In: t.In + o.In, Out: t.Out + o.Out, CacheRead: t.CacheRead + o.CacheRead, CacheWrite: t.CacheWrite + o.CacheWrite,
		Reasoning: t.Reasoning + o.Reasoning, Total: t.Total + o.Total,
	}
}

// Minus takes away what was used. The context stays.
func (t Tokens) Minus(o Tokens) Tokens {
	t.In, t.Out, t.CacheRead, t.CacheWrite = t.In-o.In, t.Out-o.Out, t.CacheRead-o.CacheRead, t.CacheWrite-o.CacheWrite
	t.Reasoning, t.Total = t.Reasoning-o.Reasoning, t.Total-o.Total
	return t
}

// Max returns the larger one of each count of what was used.
func (t Tokens) Max(o Tokens) Tokens {
	return Tokens{
		In: max(t.In, o.In), Out: max(t.Out, o.Out), CacheRead: max(t.CacheRead, o.CacheRead), CacheWrite: max(t.CacheWrite, o.CacheWrite),
		Reasoning: max(t.Reasoning, o.Reasoning), Total: max(t.Total, o.Total),
	}
}

// Quota is a limit of the agent's provider, as the agent recorded it.
type Quota struct {
	// Name is the agent's own word for the limit; "" where it has none.
	Name string
	// Used is the part used up, in percent; nil where the agent does not say.
	Used *float64
	// Reached: requests were refused because of it.
	Reached bool
	// Resets is when it begins anew, UTC; zero where not known.
	Resets time.Time
	// Text is the agent's own notice, where it wrote one.
	Text string
	// Time is when the agent recorded this, UTC.
	Time time.Time
}

// Key identifies a session. An ID alone does not, since one ID may exist in two project directories.
type Key struct {
	Agent    Agent
	ID, Path string
}

// Key returns the record's identity.
func (r Record) Key() Key { return Key{r.Agent, r.ID, r.Path} }

// IsSubagent reports whether this is a sub-agent's session, which is hidden unless asked for.
func (r Record) IsSubagent() bool { return r.Sub || r.Parent != "" && r.Team == "" }

// isOutsideHome reports whether the record's file is not below its home.
func (r *Record) isOutsideHome() bool {
	rel, err := filepath.Rel(r.Home, r.Path)
	return r.Path != "" && (err != nil || !filepath.IsLocal(rel))
}

// lastActivity returns the time of the newest record, or else of the first.
func (r *Record) lastActivity() time.Time {
	if r.Updated.IsZero() {
		return r.Created
	}
	return r.Updated
}

// SetMeta adds one of the agent's own facts, as [Facts.With] does.
func (r *Record) SetMeta(name string, value any) { r.Meta = r.Meta.With(name, value) }

// textLimit bounds each text of a record, in bytes. Real ones are titles, paths and error messages; a damaged or hostile
// store can have megabytes in their place, once for each of ten thousand sessions.
const textLimit = 4 << 10

// PathLimit is the most characters of a path that a record keeps in its Meta: no system takes longer ones.
const PathLimit = 4096

// TruncateTexts truncates the texts that are longer than a record may hold. A reader calls it before it reads the next record.
func (r *Record) TruncateTexts() {
	texts := []*string{
		&r.Dir, &r.Title, &r.Prompt, &r.Model, &r.Branch, &r.Version, &r.Source, &r.Parent, &r.Team, &r.ForkedFrom,
		&r.Turn.WaitingFor, &r.Turn.Error, &r.Turn.Detail, &r.Turn.Prompt,
	}
	for i := range r.Quotas {
		texts = append(texts, &r.Quotas[i].Name, &r.Quotas[i].Text)
	}
	for _, text := range texts {
		*text = truncateText(*text)
	}
	for name, value := range r.Meta {
		if text, ok := value.(string); ok && len(text) > textLimit {
			r.SetMeta(name, truncateText(text))
		}
	}
}

// Truncate returns at most limit characters of a text. A truncated text is a copy, so that the long one can be freed.
func Truncate(text string, limit int) string {
	if len(text) <= limit { // it has no more characters than bytes
		return text
	}
	n := 0
	for i := range text {
		if n == limit {
			return strings.Clone(text[:i])
		}
		n++
	}
	return text
}

// truncateText returns at most [textLimit] bytes of a text, whole characters. A truncated text is a copy.
func truncateText(text string) string {
	if len(text) <= textLimit {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:textLimit]), "")
}
