package codex

import "testing"

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
