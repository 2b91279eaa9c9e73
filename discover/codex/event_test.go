package codex

import (
	"encoding/json"
	"testing"
)

// TestKeysComeInAnyOrder: JSON objects have none, though Codex has a habit.
func TestKeysComeInAnyOrder(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg","payload":{"type":"task_started","turn_id":"x"}}`,
		`{"payload":{"turn_id":"x","type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg"}`,
		`{"type":"event_msg","payload":{"deep":{"type":"other"},"type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z"}`,
	} {
		e, ok := peek([]byte(line))
		if !ok || string(e.kind) != "event_msg" || string(e.name) != "task_started" || !e.whole([]byte(line)) {
			t.Errorf("%s: %q %q, %v", line, e.kind, e.name, ok)
		}
	}
}

// A line that is read by its usual form is read as any other is.
func FuzzPeek(f *testing.F) {
	const stamp = `"timestamp":"2026-11-20T19:09:28.087Z"`
	for _, line := range []string{
		`{` + stamp + `,"ordinal":12,"type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}`,
		`{` + stamp + `,"type":"turn_context","payload":{"cwd":"/"}}`,
		`{` + stamp + `,"type":"response_item","payload":{"role":"user","type":"message"}}`,
		`{` + stamp + `,"type":"response_item","payload":{"type" : "message"}}`,
		`{` + stamp + `,"type":"event_msg","payload":{"type":"torn`, `{` + stamp + `,"ordinal":,"type":"x","payload":{}}`,
		`{` + stamp + `,"type":7,"payload":{}}`, `{"type":"event_msg",` + stamp + `,"payload":{"type":"x"}}`,
		`{"timestamp":"2026-11-20T19:09:28Z","type":"event_msg","payload":{"type":"x"}}`, `{` + stamp,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := usual([]byte(line))
		if !ok {
			return
		}
		want, ok := search([]byte(line))
		if !ok && json.Valid([]byte(line)) {
			t.Fatalf("%q: only its usual form is read", line)
		}
		if ok && (string(got.kind) != string(want.kind) || string(got.name) != string(want.name) || !got.time().Equal(want.time()) ||
			string(got.payload) != string(want.payload)) {
			t.Errorf("%q: %q %q %q, want %q %q %q", line, got.kind, got.name, got.payload, want.kind, want.name, want.payload)
		}
	})
}
