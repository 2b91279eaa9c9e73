package object

import (
	"strings"

	"agentctl/discover"
	"agentctl/discover/search"
)

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
	out := NewSession(f.Session)
	for _, m := range f.Matches {
		match := SearchMatch{Message: newFoundMessage(m.Message, f.Session)}
		for _, s := range m.Spans {
			match.Spans = append(match.Spans, newSearchSpan(s))
		}
		for _, before := range m.Before {
			match.Before = append(match.Before, newFoundMessage(before, f.Session))
		}
		for _, after := range m.After {
			match.After = append(match.After, newFoundMessage(after, f.Session))
		}
		out.Matches = append(out.Matches, match)
	}
	return out
}

// newFoundMessage is [NewMessage] without the session, whose object has the message.
func newFoundMessage(m discover.Message, s discover.Session) Message {
	m.Session = ""
	return NewMessage(m, s)
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
