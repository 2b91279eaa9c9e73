package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// interruptedPrefix begins the user record that Claude Code writes when the user interrupts a turn.
const interruptedPrefix = "[Request interrupted by user"

// promptReadLimit is how many characters of a text are read to find a prompt: more than are kept, since tags and white
// space may precede it.
const promptReadLimit = 4 * discover.PromptLimit

// PromptOf returns what the user typed, by Claude Code's own rule for naming sessions (2.1.197): texts that begin with a
// tag are Claude Code's own. command reports that it is a slash command, which names a session only if nothing else was
// typed.
func PromptOf(l *Record) (prompt string, command bool) {
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
		case b.Type != "text" || text == "" || strings.HasPrefix(text, interruptedPrefix) || isTeamText(text):
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

// textStart returns the beginning of a text, as far as needed for a prompt, without white space around it and without the
// tags of pasted text.
func textStart(v jsonl.Value) (text string, pasted bool) {
	if text = v.Text(promptReadLimit); discover.HasContextFile(text) {
		text = cut(discover.StripContextFiles(v.Text(0)))
	}
	text, pasted = stripPasteTags(text, len(text) >= promptReadLimit && utf8.RuneCountInString(text) == promptReadLimit)
	return strings.TrimSpace(text), pasted
}

// startsWithTag reports whether a text begins with "<", a lower-case letter, then letters, digits, "_" or "-", then white
// space or ">".
func startsWithTag(s string) bool {
	if len(s) < 2 || s[0] != '<' || s[1] < 'a' || s[1] > 'z' {
		return false
	}
	rest := strings.TrimLeftFunc(s[1:], func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-'
	})
	return rest != "" && strings.ContainsRune("> \t\r\n", rune(rest[0]))
}

// tag returns the content of the first <name> element, trimmed.
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

// cut shortens a text to [discover.PromptLimit] characters.
func cut(s string) string { return discover.Truncate(s, discover.PromptLimit) }
