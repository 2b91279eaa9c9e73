package codex

import (
	"encoding/json"
	"testing"

	"agentctl/discover/native"
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

// FuzzPeek: a line that is JSON and has a kind and a payload is a whole record, and its payload is JSON.
func FuzzPeek(f *testing.F) {
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
		e, ok := peek([]byte(line))
		if !ok || len(e.payload) == 0 || e.payload[0] != '{' || !json.Valid([]byte(line)) {
			return
		}
		if !e.whole([]byte(line)) || !json.Valid(e.payload) {
			t.Errorf("%q: kind %q, payload %q", line, e.kind, e.payload)
		}
	})
}

// A record whose members are gathered says the same as one that is gone over for each.
func FuzzGather(f *testing.F) {
	for _, line := range []string{
		`{"type":"event_msg","payload":{"type":"task_started","turn_id":"1","thread_id":"2","n":[1,{"a":2}]}}`,
		`{"payload":{"type":"x","type":"y","info":[{"a":1]},"error":null}},"type":"event_msg"}`,
		`{"type":"event_msg","payload":{}}`, `{"type":"event_msg","payload":{"a":1,"b":"torn`,
		`{"type":"x","payload":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := peek([]byte(line))
		if !ok {
			return
		}
		want := got
		if got.gather([]byte(line), new(room)) != want.whole([]byte(line)) {
			t.Fatalf("%q: only one of both is whole", line)
		}
		say := func(all *string) func([]byte, native.Value) {
			return func(key []byte, v native.Value) { *all += string(key) + "=" + string(v) + "\n" }
		}
		var gathered, found string
		got.each(say(&gathered))
		want.each(say(&found))
		if gathered != found || string(got.payload) != string(want.payload) {
			t.Errorf("%q: %s, want %s", line, gathered, found)
		}
		for key := range want.payload.Members() {
			if name := string(key); string(got.get(name)) != string(want.get(name)) {
				t.Errorf("%q: %s is %q, want %q", line, name, got.get(name), want.get(name))
			}
		}
	})
}
