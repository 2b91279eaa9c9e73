package transcript

import "strings"

// What a person pastes into a TUI – several lines, or a long one – is stored between tags, so that the model can tell it from
// what was typed; the digits are the process's own (SEEN 2.1.329, 2.1.330; 2.1.197 stores it as if it were typed):
//
//	look at this: \n\n<pasted_content id="3754">\nline\nline\n</pasted_content id="3754">\n\n and say why
const (
	pasteBegin = `<pasted_content id="`
	pasteEnd   = `</pasted_content id="`
	pasteID    = 4 // hexadecimal digits
	pasteClose = "\">\n"
)

// stripPasteTags takes these tags away, and the line ends around them that Claude Code put there, by its own rule: what is left is
// what stood in the person's prompt. pasted tells whether there were any. More says that the text goes on, so that a paste may
// have no end.
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

// cutPaste finds the first paste; without one, all the text is before it.
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

// trimLines takes away up to two line ends.
func trimLines(s string, trim func(s, end string) string) string { return trim(trim(s, "\n"), "\n") }
