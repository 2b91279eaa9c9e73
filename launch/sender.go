package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/discover"
)

// Sender is implemented by adapters that know how a live session of their agent is sent a message.
type Sender interface {
	// CheckSend says why a session takes no message now: an [*UnsupportedError] that says why, and what the user can do. It is
	// nil if the session takes one. It sends nothing.
	CheckSend(s discover.Session, host Environment) error
	// Send hands the text to the live session by the agent's own channel, and returns once the agent has accepted it.
	// s.Processes are those that may be sent something: their identity and reachability were checked just now. An error says
	// that the agent has not accepted the text.
	Send(ctx context.Context, s discover.Session, text string, host Environment) (SentMessage, error)
	// IsSent reports whether a stored message is the one that was sent, as the agent records it: it may wrap the text.
	IsSent(m discover.Message, sent SentMessage) bool
}

// SentMessage is a message that an agent has accepted.
type SentMessage struct {
	Text string
	// ID identifies the message in the agent's transcript, where the agent keeps one from the request or answers with one. If
	// it is "", a message with the same text that is recorded after the send began counts: two senders of one text at the same
	// time cannot be told apart then.
	ID string
}

// RefusalReader is implemented by senders whose agent stores that it does not give a message to the session.
type RefusalReader interface {
	// Refusal returns what the agent says about the sent message, in its own words, if the stored message is such a notice; else
	// "". dropped: the session will never get it; else the agent holds it, until its user approves it, say.
	Refusal(m discover.Message, sent SentMessage) (text string, dropped bool)
}

// UnreadReader is implemented by senders whose agent stores a message before the model gets it, and may leave it to the next prompt.
type UnreadReader interface {
	// Unread returns why the model may not get the sent message, which the transcript has; "" if it has got it, or gets it in the turn in
	// progress. s is the session as it is now.
	Unread(ctx context.Context, s discover.Session, sent SentMessage) (why string, err error)
}

// maxMessageSize bounds a message in bytes. Adapters refuse what is more than their agent takes.
const maxMessageSize = 1 << 20

// Message is a text that can be sent.
type Message struct{ text string }

// Text returns the text.
func (m Message) Text() string { return m.text }

// NewMessage checks a text: it must be UTF-8, not blank, at most 1 MiB, and without control characters other than newline and
// tab, because agents show it on a terminal. Newlines at its end are cut off.
func NewMessage(text string) (Message, error) {
	text = strings.TrimRight(text, "\r\n")
	if strings.TrimSpace(text) == "" {
		return Message{}, errors.New("the message is empty")
	}
	if len(text) > maxMessageSize {
		return Message{}, fmt.Errorf("the message has %d bytes, more than 1 MiB: put it into a file, and send the file's name", len(text))
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return Message{}, fmt.Errorf("the message is not UTF-8 text at offset %d", i)
		}
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return Message{}, fmt.Errorf("the message has the control character %U at offset %d: only newlines and tabs can be sent", r, i)
		}
	}
	return Message{text}, nil
}
