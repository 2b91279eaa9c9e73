package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// interruptedPrefix begins the user record that Claude Code writes when the person cuts a turn short.
const interruptedPrefix = "[Request interrupted by user"

// promptReadLimit is how many characters of a message are looked at for a prompt: more than are kept, since tags and
// white space may come first.
const promptReadLimit = 4 * discover.PromptLimit

// PromptOf returns what a person typed, by Claude Code's own rule for naming sessions (2.1.197): not what it wrote
// itself into a user record, which stands in tags. A slash command is only a fallback.
func PromptOf(l *Line) (prompt string, command bool) {
	if l.Type != "user" || l.IsMeta || l.IsCompactSummary {
		return "", false
	}
	for _, b := range blocks(l.Content) {
		text, pasted := textStart(b.Text)
		switch {
		case b.Type == "tool_result":
			return "", false
		case pasted && text != "":
			return cut(text), false
		case b.Type != "text" || text == "" || strings.HasPrefix(text, interruptedPrefix):
		case !startsWithTag(text):
			return cut(text), false
		case strings.HasPrefix(text, "<bash-input>"):
			return cut("! " + tag(text, "bash-input")), false
		case tag(text, "command-name") != "":
			return cut(strings.TrimSpace(tag(text, "command-name") + " " + tag(text, "command-args"))), true
		}
	}
	return "", false
}

// textStart is a text without white space around it, as far as a prompt is looked for in it, and without the tags around what
// was pasted.
func textStart(v jsonl.Value) (text string, pasted bool) {
	if text, ok := plainTextStart(v); ok {
		return text, false
	}
	if text = v.Text(promptReadLimit); discover.HasContextFile(text) {
		text = cut(discover.StripContextFiles(v.Text(0)))
	}
	text, pasted = stripPasteTags(text, len(text) >= promptReadLimit && utf8.RuneCountInString(text) == promptReadLimit)
	return strings.TrimSpace(text), pasted
}

// plainTextStart is the opening of a text that has no tag in what is kept of it, as most have none: what follows tells nothing
// then, and is not read. ok is false where it may.
func plainTextStart(v jsonl.Value) (text string, ok bool) {
	if len(v) < 2 || v[1] <= ' ' || v[1] == '\\' || v[1] >= utf8.RuneSelf { // white space may come first
		return "", false
	}
	read := v.Text(discover.PromptLimit)
	text = strings.TrimSpace(read)
	ends := text == read || utf8.RuneCountInString(read) < discover.PromptLimit
	return text, ends && !discover.HasContextFile(text) && strings.IndexByte(text, '<') < 0
}

// startsWithTag: "<", a lower-case letter, letters, digits, "_" or "-", then white space or ">".
func startsWithTag(s string) bool {
	if len(s) < 2 || s[0] != '<' || s[1] < 'a' || s[1] > 'z' {
		return false
	}
	rest := strings.TrimLeftFunc(s[1:], func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-'
	})
	return rest != "" && strings.ContainsRune("> \t\r\n", rune(rest[0]))
}

// tag returns the content of the first <name> element, without white space around it.
func tag(s, name string) string { return strings.TrimSpace(inner(s, name)) }

// inner returns the content of the first <name> element.
func inner(s, name string) string {
	_, rest, _ := strings.Cut(s, "<"+name+">")
	content, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return content
}

// cut shortens to [discover.PromptLimit] characters.
func cut(s string) string { return discover.Truncate(s, discover.PromptLimit) }
