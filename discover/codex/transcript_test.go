package codex

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// The members of a record may come in any order, though Codex writes them in one.
func TestKeysInAnyOrder(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg","payload":{"type":"task_started","turn_id":"x"}}`,
		`{"payload":{"turn_id":"x","type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z","type":"event_msg"}`,
		`{"type":"event_msg","payload":{"deep":{"type":"other"},"type":"task_started"},"timestamp":"2026-11-20T19:09:05.651Z"}`,
	} {
		var r rolloutLine
		if !r.decode([]byte(line), "") || r.Kind != kindTurnStarted {
			t.Errorf("%s: kind %d", line, r.Kind)
		}
	}
}

// A line of valid JSON with a kind and a payload is a complete record, and its payload is valid JSON.
func FuzzDecode(f *testing.F) {
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
		var r rolloutLine
		complete := r.decode([]byte(line), "")
		if r.payload == nil || !json.Valid([]byte(line)) {
			return
		}
		if !complete || !json.Valid(r.payload) {
			t.Errorf("%q: kind %d, payload %q", line, r.Kind, r.payload)
		}
	})
}

// Any file name gives no panic, and a date directory that contains its time.
func FuzzRolloutName(f *testing.F) {
	for _, name := range []string{nameA, nameB + ".zst", "rollout-2026-11-20T19-09-05-" + threadA + "_" + threadB + ".jsonl", "rollout-", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, ok := parseRolloutName(name)
		if ok && (!isThreadID(r.id) || !strings.Contains(name, r.id)) {
			t.Fatalf("%q: %+v", name, r)
		}
		if at, ok := threadCreated(name); ok {
			if d, _ := daysOfID(name); !d.contains(at.Format("2006/01/02")) || !d.contains(at.Format("2006")) {
				t.Fatalf("%q: created %v, not in %v", name, at, d)
			}
		}
	})
}

// The prompt is the user's words, without the file that a launch puts before them.
func TestPromptAfterContextFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"message": boundedPrompt(storage.Value(text).Text(0)), "item": boundedPrompt(joinedText([]byte(`[{"type":"text","text":` + string(text) + `}]`))),
	} {
		if got != "make it so" {
			t.Errorf("%s: %.80q", name, got)
		}
	}
}
