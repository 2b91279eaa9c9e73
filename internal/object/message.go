package object

import (
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/search"
)

// Message is the JSON object of one message of a session: text, or a tool call.
type Message struct {
	ID string `json:"id"`
	// Session is absent if the command prints the messages of one session only.
	Session string `json:"session,omitempty"`
	// Adapter is the agent of Session. Subagent: Session is a sub-agent's.
	Adapter  string `json:"adapter,omitempty"`
	Subagent bool   `json:"subagent,omitempty"`
	// Host is the machine of the session; absent for this one.
	Host string `json:"host,omitempty"`
	Role string `json:"role"`
	Kind string `json:"kind"`
	Time string `json:"time,omitempty"`
	// Text is nil if the message is not text.
	Text   *string   `json:"text,omitempty"`
	Tool   *ToolCall `json:"tool,omitempty"`
	Model  string    `json:"model,omitempty"`
	Tokens *Tokens   `json:"tokens,omitempty"`
	// Changed: logs --follow has printed the message before, and its call has made progress.
	Changed bool `json:"changed,omitempty"`
	// WaitingFor is set in the last message of a session that waits for the user, if none of the messages is the call that waits.
	WaitingFor string `json:"waitingFor,omitempty"`
}

// ToolCall is the tool call of a message.
type ToolCall struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Brief string          `json:"brief,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Output is nil until there is some.
	Output *string `json:"output,omitempty"`
	State  string  `json:"state"`
	// WaitingFor is that of the session, if the call is the one that waits.
	WaitingFor string `json:"waitingFor,omitempty"`
}

// SetHost sets the machine of a message that another agentctl has printed.
func (m *Message) SetHost(host string) { m.Host = host }

// Content is the text of the message; "" of one that has none.
func (m *Message) Content() string { return Known(m.Text) }

// Result is what the call has returned so far.
func (t *ToolCall) Result() string { return Known(t.Output) }

// NewMessage converts a message of session s to its JSON object.
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

// validJSON returns raw if it is valid JSON, and otherwise raw as a JSON string.
func validJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	text, _ := json.Marshal(string(raw)) // of a string there is no error
	return text
}

// Export is the JSON object of a session with all of its messages, the oldest first.
type Export struct {
	Session  Session   `json:"session"`
	Messages []Message `json:"messages"`
	// Missing says what could not be read or was left out, the newest first.
	Missing []string `json:"missing,omitempty"`
	// Children are the sub-agents' sessions, in the order in which they began.
	Children []Export `json:"children,omitempty"`
}

// SearchMatch is a message in which something matches.
type SearchMatch struct {
	Message Message      `json:"message"`
	Spans   []SearchSpan `json:"spans"`
	// Before and After are the messages around it, the oldest first.
	Before []Message `json:"before,omitempty"`
	After  []Message `json:"after,omitempty"`
}

// SearchSpan is one match in a message.
type SearchSpan struct {
	// In is text, input or output.
	In string `json:"in"`
	// Text is what matches.
	Text string `json:"text"`
	// Start and End count characters of the message's text or of the output of its call. They are absent for an input, of which Line is the
	// line that the match begins in.
	Start *int   `json:"start,omitempty"`
	End   *int   `json:"end,omitempty"`
	Line  string `json:"line,omitempty"`
}

// NewFound converts a session and what was found in it to its JSON object.
func NewFound(f search.Found) Session {
	messages := func(list ...discover.Message) (out []Message) {
		for _, m := range list {
			m.Session = "" // its object has the message
			out = append(out, NewMessage(m, f.Session))
		}
		return out
	}
	out := NewSession(f.Session)
	for _, m := range f.Matches {
		match := SearchMatch{Message: messages(m.Message)[0], Before: messages(m.Before...), After: messages(m.After...)}
		for _, s := range m.Spans {
			match.Spans = append(match.Spans, newSearchSpan(s))
		}
		out.Matches = append(out.Matches, match)
	}
	return out
}

func newSearchSpan(s search.FieldSpan) SearchSpan {
	out := SearchSpan{In: string(s.Field), Text: s.Text[s.Start:s.End]}
	if s.Field == search.FieldInput {
		begin, end := LineAround(s.Text, s.Start)
		out.Line = s.Text[begin:end]
		return out
	}
	start := len([]rune(s.Text[:s.Start]))
	end := start + len([]rune(out.Text))
	out.Start, out.End = &start, &end
	return out
}

// LineAround returns the line of a text that contains an offset.
func LineAround(text string, at int) (begin, end int) {
	begin = strings.LastIndexAny(text[:at], "\n\r") + 1
	if end = strings.IndexAny(text[at:], "\n\r"); end < 0 {
		return begin, len(text)
	}
	return begin, at + end
}
