package transcript

import "strings"

// What the user pastes into a TUI, if it is long or has several lines, is stored between tags, so that the model can tell
// it from what was typed. The digits are random, one number per process (SEEN 2.1.329, 2.1.330; 2.1.197 stores pasted text
// like typed text):
//
//	look at this: \n\n<pasted_content id="3754">\nline\nline\n</pasted_content id="3754">\n\n and say why
const (
	// PasteTag begins such a text.
	PasteTag   = "<pasted_content"
	pasteBegin = PasteTag + ` id="`
	pasteEnd   = `</pasted_content id="`
	pasteID    = 4 // hexadecimal digits
	pasteClose = "\">\n"
)

// stripPasteTags removes these tags and the line ends that Claude Code adds around them, by its own rule, so that the
// user's prompt is left. pasted reports whether there were any tags. more says that the text was cut, so that an end tag
// may be missing.
func stripPasteTags(text string, more bool) (prompt string, pasted bool) {
	before, body, rest, ok := cutPaste(text, more)
	if !ok {
		return text, false
	}
	var whole strings.Builder
	for ; ok; before, body, rest, ok = cutPaste(rest, more) {
		whole.WriteString(before)
		whole.WriteString(body)
	}
	whole.WriteString(before)
	return whole.String(), true
}

// cutPaste finds the first pasted text. Without one, before is the whole text.
func cutPaste(text string, more bool) (before, body, after string, ok bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], pasteBegin)
		if i < 0 {
			return text, "", "", false
		}
		begin := at + i
		at = begin + len(pasteBegin)
		id, content, ok := strings.Cut(text[at:], pasteClose)
		if !ok || !isPasteID(id) {
			continue
		}
		before = trimLines(text[:begin], strings.TrimSuffix)
		end := "\n" + pasteEnd + id + `">`
		if body, after, ok = strings.Cut("\n"+content, end); !ok && !more {
			return text, "", "", false
		}
		return before, strings.TrimPrefix(body, "\n"), trimLines(after, strings.TrimPrefix), true
	}
}

func isPasteID(id string) bool {
	return len(id) == pasteID && strings.Trim(id, "0123456789abcdef") == ""
}

// trimLines removes up to two line ends.
func trimLines(s string, trim func(s, end string) string) string { return trim(trim(s, "\n"), "\n") }
