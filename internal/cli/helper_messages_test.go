package cli

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"agentctl/discover"
)

// Text is a message of an age.
func Text(id string, role discover.Role, text string, age time.Duration) discover.Message {
	return discover.Message{ID: id, Role: role, Kind: discover.KindText, Text: text, Time: Now().Add(-age)}
}

// Pending is the call of a shell that has no result.
func Pending(id, command string, age time.Duration) discover.Message {
	m := Text(id, discover.RoleAssistant, "", age)
	m.Kind, m.Model = discover.KindTool, "claude-opus-4-8"
	m.Tokens = &discover.Tokens{In: 100, Out: 20, CacheRead: 11, CacheWrite: 7, Total: 138}
	m.Tool = &discover.ToolCall{
		ID: id, Name: "Bash", Brief: command, Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command)), State: discover.ToolOpen,
	}
	return m
}

// WithMessages is the made-up world, in which aaaaaaaa-1 runs and aaaaaaaa-2 has sub-agents.
func WithMessages(t *testing.T) (Factory, *Output) {
	f, out := testFactory(t)
	s := f.Adapters[1].(Stub)
	s.Transcripts = map[string][]discover.Message{
		"aaaaaaaa-1": {
			Text("m1", discover.RoleUser, "make the tests pass", time.Hour),
			Text("m2", discover.RoleAssistant, "I run\nthem.\x1b[2J", 50*time.Minute),
			Pending("m3", "npm test", 49*time.Minute),
		},
		"aaaaaaaa-2": {Text("a", discover.RoleUser, "one", 9*time.Minute), Text("d", discover.RoleAssistant, "four", 6*time.Minute)},
		"eeeeeeee-1": {Text("b", discover.RoleUser, "two", 8*time.Minute), Text("c", discover.RoleAssistant, "three", 7*time.Minute)},
		"eeeeeeee-2": {Text("e", discover.RoleUser, "five", 5*time.Minute)},
		"dddddddd":   {Text("x", discover.RoleUser, "go", time.Minute), Pending("y", "sleep 9", time.Minute)},
	}
	for id, parent := range map[string]string{"eeeeeeee-1": "aaaaaaaa-2", "eeeeeeee-2": "eeeeeeee-1", "ffffffff": "dddddddd"} {
		r := Record(id, "/w/a", discover.TurnDone, time.Hour)
		r.Parent, r.Sub = parent, true
		s.Records = append(s.Records, r)
	}
	f.Adapters = []discover.Adapter{f.Adapters[0], s}
	return f, out
}
