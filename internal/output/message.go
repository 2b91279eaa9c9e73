package output

import (
	"encoding/json"

	"agentctl/discover"
)

// Message is the JSON contract of what was said or done in a session.
type Message struct {
	ID string `json:"id"`
	// Session is left out where only one can be meant.
	Session string `json:"session,omitempty"`
	Role    string `json:"role"`
	Kind    string `json:"kind"`
	Time    string `json:"time,omitempty"`
	// Text is nil where the message is something else than words.
	Text   *string   `json:"text,omitempty"`
	Tool   *ToolCall `json:"tool,omitempty"`
	Model  string    `json:"model,omitempty"`
	Tokens *Tokens   `json:"tokens,omitempty"`
}

// ToolCall is a tool's call in a message.
type ToolCall struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Brief string          `json:"brief,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Output is nil as long as there is none.
	Output *string `json:"output,omitempty"`
	State  string  `json:"state"`
	// WaitingFor is the session's, of a call that waits.
	WaitingFor string `json:"waitingFor,omitempty"`
}

// NewMessage puts a message of a session into the contract's words.
func NewMessage(m discover.Message, s discover.Session) Message {
	out := Message{
		ID: m.ID, Session: m.Session, Role: string(m.Role), Kind: string(m.Kind), Time: Timestamp(m.Time),
		Model: m.Model, Tokens: (*Tokens)(m.Tokens),
	}
	if m.Text != "" || m.Kind == discover.KindText {
		out.Text = &m.Text
	}
	if m.Tool != nil {
		out.Tool = newToolCall(*m.Tool, s)
	}
	return out
}

func newToolCall(c discover.ToolCall, s discover.Session) *ToolCall {
	out := &ToolCall{ID: c.ID, Name: c.Name, Brief: c.Brief, Input: validJSON(c.Input), State: string(c.State)}
	switch c.State {
	case discover.ToolWaiting:
		out.WaitingFor = s.WaitingFor
	case discover.ToolDone, discover.ToolFailed, discover.ToolRefused:
		out.Output = &c.Output
	}
	if c.Output != "" {
		out.Output = &c.Output
	}
	return out
}

// validJSON is a value as it is stored; what is none is the text of it.
func validJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return nil // a string has no errors
	}
	return text
}
