package cli

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// The hint for a live session that was to be resumed helps: stop does not end one that is idle in a process with others.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status discover.Status
		shared bool
		hint   string
	}{
		"running":             {discover.Running, false, "stop it"},
		"idle":                {discover.Idle, false, "stop it"},
		"running in a daemon": {discover.Running, true, "stop it"},
		"idle in a daemon":    {discover.Idle, true, "pid 7 keeps it open: talk to it there"},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}, Status: test.status, Shared: test.shared}
		s.Processes = []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}
		err := refusal(&launch.LiveError{Session: s})
		var conflict *Failure
		if !errors.As(err, &conflict) || ExitCode(err) != ExitConflict || !strings.Contains(conflict.Hint, test.hint) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A start that was not proven in time and is to be waited for is left alone: nothing is stopped.
func TestAnUnprovenStartIsLeftAlone(t *testing.T) {
	s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}}
	l := &Launched{
		StartOptions: &StartOptions{Wait: true, CommonFlags: CommonFlags{Quiet: true}}, Call: &Call{},
		Verification: &launch.Verification{Session: s}, execution: &launch.Execution{},
	}
	failed := TimeoutError("it did not appear", "")
	if err := l.end(t.Context(), failed, nil); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// The answer is the last text of the newest turn, never one of an earlier turn.
func TestAnswer(t *testing.T) {
	message := func(role discover.Role, kind discover.MessageKind, text string, at time.Duration) discover.Message {
		return discover.Message{Session: "a", Role: role, Kind: kind, Text: text, Time: Now().Add(at)}
	}
	user := func(text string, at time.Duration) discover.Message {
		return message(discover.RoleUser, discover.KindText, text, at)
	}
	said := func(text string, at time.Duration) discover.Message {
		return message(discover.RoleAssistant, discover.KindText, text, at)
	}
	call := message(discover.RoleAssistant, discover.KindTool, "", 2)
	cut := message(discover.RoleSystem, discover.KindInterruption, "", 2)
	sub := discover.Message{Session: "b", Role: discover.RoleAssistant, Kind: discover.KindText, Text: "of a sub-agent", Time: Now().Add(5)}
	asked := discover.Message{Session: "b", Role: discover.RoleUser, Kind: discover.KindText, Text: "to a sub-agent", Time: Now().Add(4)}
	undated := said("old", 0)
	undated.Time = time.Time{}
	for name, test := range map[string]struct {
		messages []discover.Message // the oldest first
		torn     error
		want     string
	}{
		"nothing":                    {nil, nil, ""},
		"one text":                   {[]discover.Message{user("q", 0), said("yes", 1)}, nil, "yes"},
		"the last text":              {[]discover.Message{user("q", 0), said("let me see", 1), call, said("done", 3)}, nil, "done"},
		"a text before a call":       {[]discover.Message{user("q", 0), said("let me see", 1), call}, nil, "let me see"},
		"a blank text":               {[]discover.Message{user("q", 0), said("yes", 1), said(" \n", 2)}, nil, "yes"},
		"a sub-agent among them":     {[]discover.Message{user("q", 0), said("yes", 1), asked, sub}, nil, "yes"},
		"an earlier turn":            {[]discover.Message{user("p", -9), said("old", -8), user("q", 0), call}, nil, ""},
		"an earlier turn, undated":   {[]discover.Message{undated, user("q", 0)}, nil, ""},
		"a prompt that is no text":   {[]discover.Message{user("p", -9), said("old", -8), call}, nil, ""},
		"an interrupted turn":        {[]discover.Message{user("q", 0), said("let me see", 1), cut}, nil, ""},
		"a part that cannot be read": {[]discover.Message{user("q", 0), said("yes", 1)}, errors.New("torn"), ""},
	} {
		got, err := answerIn(newestFirst(test.messages, test.torn), "a", Now())
		if got != test.want || !errors.Is(err, test.torn) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// newestFirst yields messages as a transcript does whose end cannot be read.
func newestFirst(messages []discover.Message, torn error) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		if torn != nil && !yield(discover.Message{}, torn) {
			return
		}
		for _, m := range slices.Backward(messages) {
			if !yield(m, nil) {
				return
			}
		}
	}
}
