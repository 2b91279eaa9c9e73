package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/discover"
)

// TestStripPasteTags: the tags around pasted text are removed, and nothing that only resembles them.
func TestStripPasteTags(t *testing.T) {
	const begin, end = "<pasted_content id=\"3754\">\n", "\n</pasted_content id=\"3754\">"
	for _, c := range []struct {
		text, want string
		more       bool
	}{
		{"\n\n" + begin + "a\nb" + end + "\n", "a\nb", false},
		{begin + "a\nb" + end, "a\nb", false}, // given while a turn was in progress
		{"before \n\n" + begin + "a\nb" + end + "\n\n after", "before a\nb after", false},
		{"\n\n" + begin + "a" + end + "\n\n" + begin + "b" + end + "\n", "ab", false},
		{"\n\n" + begin + "\n\na\n\n" + end + "\n\n\n\nafter", "\n\na\n\n\n\nafter", false},
		{"x\n\n" + begin + end[1:] + "\n", "x", false},
		{"\n\n" + begin + "a\n" + begin + "b" + end + "\n", "a\n" + begin + "b", false},
		{"\n\n" + begin + strings.Repeat("a", 700), strings.Repeat("a", 700), true},
		// No pastes.
		{"", "", false},
		{"\n\n" + begin + "a", "\n\n" + begin + "a", false},
		{begin + "a\n</pasted_content id=\"3755\">", begin + "a\n</pasted_content id=\"3755\">", false},
		{"<pasted_content id=\"37\">\na" + end, "<pasted_content id=\"37\">\na" + end, false},
		{"<pasted_content id=\"WXYZ\">\na", "<pasted_content id=\"WXYZ\">\na", true},
		{"what is <pasted_content id=\"3754\"> for?", "what is <pasted_content id=\"3754\"> for?", false},
	} {
		if got, pasted := stripPasteTags(c.text, c.more); got != c.want || pasted != (c.want != c.text) {
			t.Errorf("%q: %q, %v", c.text, got, pasted)
		}
	}
}

// TestPastedText: pasted text is the user's, whatever it begins with, and makes a prompt like any other text.
func TestPastedText(t *testing.T) {
	paste := func(s string) string {
		return "\n\n<pasted_content id=\"3754\">\n" + s + "\n</pasted_content id=\"3754\">\n"
	}
	long := strings.Repeat("0123456789", 100)
	for stored, want := range map[string]string{
		paste("a\nb"):                                 "a\nb",
		"say why: " + paste("a") + "\n please":        "say why: a please",
		paste("<bash-stdout>mine</bash-stdout>"):      "<bash-stdout>mine</bash-stdout>",
		paste("[Request interrupted by user]"):        "[Request interrupted by user]",
		paste(long):                                   long,
		strings.Repeat("x", 190) + paste("behind it"): strings.Repeat("x", 190) + "behind it",
		"what is <pasted_content id=\"3754\">\n?":     "what is <pasted_content id=\"3754\">\n?",
	} {
		if got := userText(stored, "human"); got != (messageText{discover.RoleUser, discover.KindText, want}) {
			t.Errorf("%.50q is heard as %+v", stored, got)
		}
		l, ok := ParseRecord([]byte(`{"type":"user","message":{"content":` + asJSON(t, stored) + `}}`))
		if prompt, command := PromptOf(&l); !ok || command || prompt != cut(want) {
			t.Errorf("%.50q is the prompt %q", stored, prompt)
		}
	}
	if got := userText(paste("a"), "peer"); got != systemText("a") {
		t.Errorf("of another session: %+v", got)
	}
}

// The prompt is what the user asked, not the file that a launch puts before it.
func TestPromptBehindAFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	must(t, err)
	for _, content := range []string{string(text), `[{"type":"text","text":` + string(text) + `}]`} {
		l, ok := ParseRecord([]byte(`{"type":"user","message":{"role":"user","content":` + content + `}}`))
		if prompt, command := PromptOf(&l); !ok || command || prompt != "make it so" {
			t.Errorf("%.80q", prompt)
		}
	}
}
