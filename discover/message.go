package discover

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"agentctl/discover/storage"
)

// Message is one message, tool call or event of a session, as its storage has it.
type Message struct {
	// ID identifies the message in its session, in this scan and all later ones: the agent's ID of the record where it has one,
	// else the position in the file. A message whose call has ended since keeps it.
	ID string
	// Session is the session's own id; with sub-agents' messages among those of the session they work for, theirs.
	Session string
	Role    Role
	Kind    MessageKind
	// Time is when it was recorded, UTC; zero where the agent does not say.
	Time time.Time
	// Text is what was said, exactly as stored; of an error the agent's own words. Clean it before a terminal sees it.
	Text string
	// Tool is the call, of kind [KindTool].
	Tool *ToolCall
	// SentID is the ID that the sender gave a message, where the agent stores one; else "".
	SentID string `json:",omitzero"`
	// Model and Tokens are those of the answer that the message is part of. Of an answer that is stored as several
	// messages, one has the tokens.
	Model  string
	Tokens *Tokens
}

// Role is who wrote a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	// RoleSystem is the agent's program: what is neither the user's nor the model's.
	RoleSystem Role = "system"
)

// MessageKind says what a message is.
type MessageKind string

// The kinds of messages.
const (
	KindText         MessageKind = "text"
	KindTool         MessageKind = "tool"
	KindError        MessageKind = "error"        // the turn, or an attempt to ask the model, failed
	KindInterruption MessageKind = "interruption" // the turn was cut here, by the user or by an abort
	KindCompaction   MessageKind = "compaction"   // the context was replaced by a summary, which is the text where it is stored
)

// ToolCall is a call of a tool by the model.
type ToolCall struct {
	// ID is the call's own, Name the tool's, as the agent records them.
	ID, Name string
	// Input is what the tool was called with: a JSON value as stored, or the JSON string of an input that is none.
	Input json.RawMessage
	// Brief is the part of the input that tells people what the call does, in the agent's words: the command, the file.
	Brief string
	// Output is what the tool returned, as text; of a failed call its error.
	Output string
	State  ToolState
}

// ToolState is how far a call has got.
type ToolState string

// The states of a call. That a call runs or waits is never stored: [Scanner.Messages] judges open ones.
const (
	ToolOpen        ToolState = "open"    // no result is stored
	ToolRunning     ToolState = "running" // open, and its session is at work
	ToolWaiting     ToolState = "waiting" // open, and its session waits for the user
	ToolInterrupted ToolState = "cut"     // it has no result, and will have none
	ToolDone        ToolState = "done"
	ToolFailed      ToolState = "error"
	ToolRefused     ToolState = "refused" // the user said no
)

// MessageStream passes what a reader finds on to the consumer of [Adapter.Messages].
type MessageStream struct {
	// Stopped: the consumer wants no more.
	Stopped bool
	agent   Agent
	yield   func(Message, error) bool
}

// StreamMessages returns the sequence of [Adapter.Messages], which read emits.
func StreamMessages(agent Agent, read func(*MessageStream)) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) { read(&MessageStream{agent: agent, yield: yield}) }
}

// StreamFile is [StreamMessages] for a session that is one file, which it opens. The error of read is a warning about the file. A session
// of which nothing is stored has no messages.
func StreamFile(ctx context.Context, r Record, read func(*storage.File, *MessageStream) error) iter.Seq2[Message, error] {
	return StreamMessages(r.Agent, func(s *MessageStream) {
		if r.Path == "" {
			return
		}
		f, err := storage.Open(ctx, r.Path)
		if err != nil {
			s.Warn(r.Path, &Warning{Agent: r.Agent, Path: r.Path, Err: storage.WithoutPath(r.Path, err)}) // also if it is gone
			return
		}
		defer f.Close()
		s.Warn(r.Path, read(f, s))
	})
}

// Emit passes messages on, the newest first.
func (s *MessageStream) Emit(messages ...Message) {
	for _, m := range messages {
		s.Stopped = s.Stopped || !s.yield(m, nil)
	}
}

// Warn passes on why something of a path cannot be read; nil is nothing.
func (s *MessageStream) Warn(path string, err error) {
	if warning := NewWarning(s.agent, path, err); warning != nil {
		s.Stopped = s.Stopped || !s.yield(Message{}, warning)
	}
}

// ToolResults holds the results of tool calls until the calls are read: from the end of a transcript, the result comes first. All are dropped
// when they are too many, so that results without a call take bounded memory.
type ToolResults struct {
	byCall map[string][]toolResult // the newest first
	taken  map[string]bool         // those of them of which the answer that is read now has taken some
	size   int                     // of the outputs, in bytes
}

type toolResult struct {
	output string
	state  ToolState
}

// The number of results, and of bytes of their outputs, after which they are dropped.
const (
	maxResults     = 4096
	maxOutputBytes = storage.MaxLine
)

// Add takes the result of a call. Of several results of one ID, the newest comes first.
func (r *ToolResults) Add(call, output string, state ToolState) {
	if r.byCall == nil || max(len(r.byCall), len(r.byCall[call])) >= maxResults || r.size >= maxOutputBytes {
		*r = ToolResults{byCall: map[string][]toolResult{}, taken: map[string]bool{}}
	}
	r.byCall[call] = append(r.byCall[call], toolResult{output, state})
	r.size += len(output)
}

// Complete gives a call its result, which is no other call's, or the state that it has none. Some models give several calls of an answer one
// ID, or number the calls of each answer anew.
func (r *ToolResults) Complete(c *ToolCall) {
	c.State = ToolOpen
	if list := r.byCall[c.ID]; len(list) > 0 {
		c.Output, c.State = list[0].output, list[0].state
		r.size -= len(c.Output)
		if r.byCall[c.ID] = list[1:]; len(list) > 1 {
			r.taken[c.ID] = true
		} else {
			delete(r.byCall, c.ID)
		}
	}
}

// Has reports whether there is a result for a call of this ID.
func (r *ToolResults) Has(call string) bool { return len(r.byCall[call]) > 0 }

// EndAnswer drops the results that no call of an answer has taken: they are not those of older calls with the same ID.
func (r *ToolResults) EndAnswer() {
	for call := range r.taken {
		for _, left := range r.byCall[call] {
			r.size -= len(left.output)
		}
		delete(r.byCall, call)
	}
	clear(r.taken)
}

// Messages yields the messages of a session, the newest first, as [Adapter] does: none if nothing is stored yet. It sets the state of calls without a
// result by the session's status. Of a very long transcript it yields the newest part, and a warning.
func (scanner *Scanner) Messages(ctx context.Context, s Session) iter.Seq2[Message, error] {
	return scanner.MessagesWithin(ctx, s, maxMessageBytes)
}

// MessagesWithin is [Scanner.Messages] with a limit of the caller's: the size of the messages in bytes after which older ones are
// left out.
func (scanner *Scanner) MessagesWithin(ctx context.Context, s Session, limit int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if s.Path == "" {
			return
		}
		adapter := AdapterOf(scanner.Adapters, s.Agent)
		over := false // the following messages are older than the newest turn
		began := s.openTurnBegan()
		given := 0
		for m, err := range adapter.Messages(confineToSession(ctx, s), *s.Record) {
			if m.Session == "" {
				m.Session = s.ID
			}
			if err == nil && m.Tool != nil && m.Tool.State == ToolOpen {
				call := *m.Tool
				call.State = s.openCall(over)
				m.Tool = &call
			}
			over = over || err == nil && m.endsTurn() && (began.IsZero() || !m.Time.After(began))
			if !yield(m, err) {
				return
			}
			if given += m.Size(); given > limit {
				err := fmt.Errorf("messages before the newest %d MB are left out", limit>>20)
				yield(Message{}, &Warning{Agent: s.Agent, Path: s.Path, Err: err})
				return
			}
		}
	}
}

// maxMessageBytes is the size of the messages after which no more are yielded: a caller that shows the oldest first holds all of
// them.
const maxMessageBytes = 24 << 20

// Size returns how many bytes the texts of a message take.
func (m Message) Size() int {
	n := len(m.Text)
	if m.Tool != nil {
		n += len(m.Tool.Input) + len(m.Tool.Brief) + len(m.Tool.Output)
	}
	return n
}

// endsTurn reports whether no call before this message can still run.
func (m Message) endsTurn() bool {
	return m.Role == RoleUser && m.Kind == KindText || m.Kind == KindInterruption
}

// openTurnBegan returns when the turn that a process shows as open began: what the user says during it does not end it. It is zero if
// no process shows that.
func (s Session) openTurnBegan() (began time.Time) {
	for _, e := range s.Evidence {
		if e.Accepted && e.Turn != nil && (e.Turn.State == TurnOpen || e.Turn.State == TurnWaiting) && s.Status != Stopped {
			began = e.Turn.Began
		}
	}
	return began
}

// openCall returns the state of a call without a result. over: a later turn has begun.
func (s Session) openCall(over bool) ToolState {
	switch {
	case over:
		return ToolInterrupted
	case s.Status == Waiting:
		return ToolWaiting
	case s.Status == Running || s.Status == Unknown:
		return ToolRunning
	}
	return ToolInterrupted
}

// The lines around a file that a launch puts before the prompt.
const (
	contextBegin = "--- File: "
	contextEnd   = "\n--- End File ---"
)

// FormatContextFile returns a file as a launch puts it before a prompt.
func FormatContextFile(name, text string) string {
	return contextBegin + name + " ---\n" + strings.TrimRight(text, "\n") + contextEnd
}

// HasContextFile reports whether a prompt begins with a file. The beginning of the prompt is enough.
func HasContextFile(prompt string) bool {
	return strings.HasPrefix(strings.TrimLeft(prompt, " \t\r\n"), contextBegin)
}

// StripContextFiles returns a whole prompt without the files before it. A prompt that consists of files only, or in which a
// file does not end, stays as it is.
func StripContextFiles(prompt string) string {
	if !HasContextFile(prompt) {
		return prompt
	}
	rest, whole := prompt, true
	for whole && HasContextFile(rest) {
		_, rest, whole = strings.Cut(rest, contextEnd)
	}
	return cmp.Or(strings.TrimLeft(rest, " \t\r\n"), prompt)
}

// PromptText returns what a record keeps of a prompt: at most [PromptLimit] characters, without the files before them.
func PromptText(prompt string) string { return Truncate(StripContextFiles(prompt), PromptLimit) }

// BriefLimit is the most characters (runes) of each text of a [WaitingOn] but its path.
const BriefLimit = 200

// questionsLimit is the most questions that a [WaitingOn] keeps. Agents ask four at the most.
const questionsLimit = 16

// WaitingOn is the tool call that a waiting turn needs the user for. Its texts are raw: clean them before they go to a
// terminal.
type WaitingOn struct {
	// ID identifies the call, as the agent records it; at most [BriefLimit] characters.
	ID string `json:",omitzero"`
	// Tool is the tool's name, as the agent records it.
	Tool string
	// Brief tells people what the call does: the command, the file, the first question. A longer one ends in "…".
	Brief string
	// Path is the file that the call is about, as the agent names it; "" where it is about none, or several.
	Path string
	// Questions are those that the call asks, in their order.
	Questions []string
	// Diff counts the lines that the call changes; nil where it changes none, or does not say how many.
	Diff *Diff
}

// Diff is the number of lines that a call adds and removes.
type Diff struct {
	Added int
	// Removed is nil where the call replaces or deletes a file: what that contains is not in the call.
	Removed *int
}

// NewDiff returns the counts of lines; nil if none is known. complete: removed counts all that are removed.
func NewDiff(added, removed int, complete bool) *Diff {
	switch {
	case complete:
		return &Diff{Added: added, Removed: &removed}
	case added > 0:
		return &Diff{Added: added}
	}
	return nil
}

// NewWaitingOn bounds its texts. A path that no system takes is left out, since a part of it names another file.
func NewWaitingOn(tool, brief, path string, questions []string) *WaitingOn {
	w := &WaitingOn{Tool: truncateBrief(tool), Brief: truncateBrief(brief)}
	if len(path) <= PathLimit {
		w.Path = strings.Clone(path)
	}
	for _, q := range questions[:min(len(questions), questionsLimit)] {
		w.Questions = append(w.Questions, truncateBrief(q))
	}
	return w
}

// truncateBrief returns a copy of at most [BriefLimit] characters of a text.
func truncateBrief(text string) string {
	if len(Truncate(text, BriefLimit)) < len(text) {
		return Truncate(text, BriefLimit-1) + "…"
	}
	return strings.Clone(text)
}

// Equal reports whether two turns wait for the same call.
func (w *WaitingOn) Equal(o *WaitingOn) bool { return reflect.DeepEqual(w, o) }
