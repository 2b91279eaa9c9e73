package codex

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// The prompt is the user's words, without the file that a launch puts before them.
func testPromptAfterContextFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"message": boundedPrompt(jsonl.Value(text).Text(0)), "item": boundedPrompt(joinedText([]byte(`[{"type":"text","text":` + string(text) + `}]`))),
	} {
		if got != "make it so" {
			t.Errorf("%s: %.80q", name, got)
		}
	}
}
