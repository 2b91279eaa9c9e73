package codex

import (
	"encoding/json"
	"testing"
)

// The members of a record may come in any order, though Codex writes them in one.
func testKeysInAnyOrder(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg","payload":{"type":"task_started","turn_id":"x"}}`,
		`{"payload":{"turn_id":"x","type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg"}`,
		`{"type":"event_msg","payload":{"deep":{"type":"other"},"type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z"}`,
	} {
		r, ok := decodeRecord([]byte(line), "")
		if !ok || r.Kind != kindTurnStarted || !r.Complete([]byte(line)) {
			t.Errorf("%s: kind %d, %v", line, r.Kind, ok)
		}
	}
}

// A line of valid JSON with a kind and a payload is a complete record, and its payload is valid JSON.
func fuzzDecode(f *testing.F) {
	const stamp = `"timestamp":"2026-11-20T19:09:28.087Z"`
	for _, line := range []string{
		`{` + stamp + `,"ordinal":12,"type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}`,
		`{` + stamp + `,"type":"turn_context","payload":{"cwd":"/"}}`,
		`{` + stamp + `,"type":"response_item","payload":{"role":"user","type":"message"}} `,
		`{` + stamp + `,"type":"event_msg","payload":{"type":"torn`, `{` + stamp + `,"ordinal":,"type":"x","payload":{}}`,
		`{` + stamp + `,"type":7,"payload":{}}`, `{"type":"event_msg",` + stamp + `,"payload":{"type":"x"}}`, `{` + stamp,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := decodeRecord([]byte(line), "")
		if !ok || len(r.payload) == 0 || r.payload[0] != '{' || !json.Valid([]byte(line)) {
			return
		}
		if !r.Complete([]byte(line)) || !json.Valid(r.payload) {
			t.Errorf("%q: kind %d, payload %q", line, r.Kind, r.payload)
		}
	})
}
