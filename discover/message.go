package discover

import (
	"encoding/json"
	"time"
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
