package launch

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentMessage is a message that an agent has accepted.
type SentMessage struct {
	Text string
	// ID identifies the message in the agent's transcript, where the agent keeps one from the request or answers with one. If
	// it is "", a message with the same text that is recorded after the send began counts: two senders of one text at the same
	// time cannot be told apart then.
	ID string
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
