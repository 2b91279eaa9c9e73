package discover

import (
	"context"
	"iter"
	"strings"
	"testing"
)

// endlessAdapter is an adapter whose transcript has no end.
type endlessAdapter struct {
	testAdapter
	text string
}

func (m endlessAdapter) Messages(context.Context, Record) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for yield(Message{Text: m.text, Tool: &ToolCall{Output: m.text}}, nil) {
			continue
		}
	}
}

// A transcript is given as far back as fits into memory, and a warning says that there is more.
func TestMessagesAreBounded(t *testing.T) {
	const part = 1 << 20
	scanner := newScanner(nil, endlessAdapter{testAdapter{agent: Codex}, strings.Repeat("x", part)})
	r := record(Codex, "s1", 1)
	n, warnings := 0, 0
	for m, err := range scanner.Messages(t.Context(), Session{Record: &r}) {
		if n += len(m.Text) + len(m.toolOutput()); err != nil {
			warnings++
		}
	}
	if warnings != 1 || n > maxMessageBytes+2*part || n < maxMessageBytes {
		t.Errorf("%d bytes, %d warnings", n, warnings)
	}
}

func (m Message) toolOutput() string {
	if m.Tool == nil {
		return ""
	}
	return m.Tool.Output
}
