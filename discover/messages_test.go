package discover

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
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

// fixedMessages is an adapter with one transcript, newest first.
type fixedMessages struct {
	testAdapter
	messages []Message
}

func (m fixedMessages) Messages(context.Context, Record) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, message := range m.messages {
			if !yield(message, nil) {
				return
			}
		}
	}
}

// A message that the user sends during a turn does not end its calls; the prompt of the turn ends those before it.
func TestMessageDuringATurn(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	call := func(second int64) Message {
		return Message{Role: RoleAssistant, Kind: KindTool, Time: at(second), Tool: &ToolCall{State: ToolOpen}}
	}
	said := func(second int64) Message { return Message{Role: RoleUser, Kind: KindText, Time: at(second)} }
	scanner := newScanner(nil, fixedMessages{testAdapter{agent: Codex}, []Message{said(9), call(6), said(5), call(2)}})
	r := record(Codex, "s1", 1)
	shown := Evidence{Accepted: true, Claim: Claim{Turn: &Turn{State: TurnOpen, Began: at(5)}}}
	for name, c := range map[string]struct {
		session Session
		want    []ToolState
	}{
		"shown to be open":  {Session{Record: &r, Status: Running, Evidence: []Evidence{shown}}, []ToolState{ToolRunning, ToolInterrupted}},
		"not shown":         {Session{Record: &r, Status: Running}, []ToolState{ToolInterrupted, ToolInterrupted}},
		"stopped meanwhile": {Session{Record: &r, Status: Stopped, Evidence: []Evidence{shown}}, []ToolState{ToolInterrupted, ToolInterrupted}},
	} {
		var got []ToolState
		for m, err := range scanner.Messages(t.Context(), c.session) {
			if err != nil {
				t.Error(err)
			}
			if m.Tool != nil {
				got = append(got, m.Tool.State)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Results without a call take bounded memory, and are no other call's.
func TestResultsWithoutCalls(t *testing.T) {
	var r ToolResults
	for i := range 3 * maxResults {
		r.Add(fmt.Sprint(i), "x", ToolDone)
	}
	c := ToolCall{ID: "none"}
	if r.Complete(&c); len(r.byCall) > maxResults || c.State != ToolOpen {
		t.Errorf("%d results are kept, %+v", len(r.byCall), c)
	}
	r.Add("one", "failure", ToolFailed)
	for _, want := range []ToolState{ToolFailed, ToolOpen} { // a second call with the ID has no result
		if c := (ToolCall{ID: "one"}); true {
			if r.Complete(&c); c.State != want {
				t.Errorf("%+v, want %s", c, want)
			}
		}
	}
}
