package claudecode

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// interruptedPrefix begins the user record that Claude Code writes when the user interrupts a turn.
const interruptedPrefix = "[Request interrupted by user"

// imageText is the message of a prompt that has images and no text.
const imageText = "[image]"

// promptOf returns what the user typed. command reports that it is a slash command, which names a session only if nothing else was
// typed.
func promptOf(line *rawLine) (prompt string, command bool) {
	if line.Type != "user" || line.IsMeta || line.IsCompactSummary || line.IsTranscriptOnly {
		return "", false
	}
	image, origin := false, line.Origin.Object().Get("kind").Text(0)
	for _, b := range blocks(line.Content) {
		if b.ToolUseID != "" {
			return "", false
		}
		image = image || b.Type == "image"
		text, pasted := typedText(b.Text)
		w := classify(text, pasted, origin)
		if w.role != discover.RoleUser || w.text == "" {
			continue
		}
		if w.text == text {
			return discover.Truncate(withoutContext(text), discover.PromptLimit), false
		}
		return discover.Truncate(w.text, discover.PromptLimit), beginsWith(text, "<command-")
	}
	if image && (origin == "" || origin == "human") {
		prompt = imageText
	}
	return prompt, false
}

// withoutContext returns the words of a prompt without what Claude Code put before them, or another program where the words would be cut
// off otherwise.
func withoutContext(text string) string {
	for {
		name, ok := tagName(text)
		_, words, closed := strings.Cut(text, "</"+name+">")
		words = strings.TrimSpace(words)
		if !ok || !closed || words == "" || !isContext(name) && len(text) <= discover.PromptLimit {
			return text
		}
		text = words
	}
}

// isContext reports whether Claude Code puts an element of this name before the words of a prompt, for the model.
func isContext(name string) bool {
	switch name {
	case "local-command-caveat", "system-reminder", "system-note", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics":
		return true
	}
	return false
}

// promptReadLimit is how many characters of a text are read to find a prompt: more than are kept, since tags and white space may
// precede or surround it.
const promptReadLimit = 1 << 16

// typedText returns the beginning of a text without white space around it, without the tags of pasted text, and without the files
// before it.
func typedText(v storage.Value) (text string, pasted bool) {
	text = v.Text(promptReadLimit)
	more := len(text) >= promptReadLimit
	if discover.HasContextFile(text) {
		text, more = discover.StripContextFiles(v.Text(0)), false
	}
	text, pasted = stripPasteTags(text, more)
	return strings.TrimSpace(text), pasted
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

// messageText is a text with its role and kind. An empty text is not shown.
type messageText struct {
	role discover.Role
	kind discover.MessageKind
	text string
}

// systemText is a text of Claude Code itself.
func systemText(text string) messageText {
	return messageText{discover.RoleSystem, discover.KindText, text}
}

func errorText(text string) messageText {
	return messageText{discover.RoleSystem, discover.KindError, text}
}

// parseTagged classifies a text that Claude Code wrote in tags, or as a fixed phrase. ok is false for other texts.
func parseTagged(text string) (w messageText, ok bool) {
	if strings.HasPrefix(text, interruptedPrefix) && strings.HasSuffix(text, "]") && !strings.Contains(text, "\n") {
		return messageText{discover.RoleSystem, discover.KindInterruption, text}, true
	}
	if told, ok := teamText(text); ok {
		return systemText(told), true
	}
	name, ok := tagName(text)
	if !ok {
		return messageText{}, false
	}
	typed := func(text string) messageText { return messageText{discover.RoleUser, discover.KindText, text} }
	if isContext(name) {
		return messageText{}, strings.HasSuffix(strings.TrimSpace(text), "</"+name+">")
	}
	switch name {
	case "command-name", "command-message":
		command := strings.TrimSpace(tag(text, "command-name") + " " + tag(text, "command-args"))
		return typed(command), command != ""
	case "bash-input":
		return typed("! " + tag(text, name)), true
	case "user-memory-input":
		return typed("# " + tag(text, name)), true
	case "local-command-stdout", "local-command-stderr":
		return systemText(inner(text, name)), true
	case "bash-stdout", "bash-stderr":
		out, errs := inner(text, "bash-stdout"), inner(text, "bash-stderr")
		if out != "" && errs != "" && !strings.HasSuffix(out, "\n") {
			out += "\n"
		}
		return systemText(out + errs), true
	case "task-notification":
		return systemText(cmp.Or(tag(text, "summary"), text)), true
	case "user-prompt-submit-hook", "cross-session-message":
		return systemText(strings.TrimSpace(inner(text, name))), strings.HasSuffix(strings.TrimSpace(text), "</"+name+">")
	}
	return messageText{}, false
}

// What a teammate, or its lead, is told by another one is a user record: elements with the name of the sender, for the lead
// after an introduction and before a notice (SEEN 2.1.332). It has no origin.
const (
	teamIntroduction = "Another Claude session sent a message:\n"
	teamElement      = "<teammate-message "
)

// teamText returns what a teammate was told by another one. ok is false for other texts.
func teamText(text string) (told string, ok bool) {
	if !strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(text), teamIntroduction), teamElement) {
		return "", false
	}
	var parts []string
	for {
		_, rest, found := strings.Cut(text, teamElement)
		_, rest, opened := strings.Cut(rest, ">")
		content, rest, closed := strings.Cut(rest, "</teammate-message>")
		if !found || !opened || !closed {
			return cmp.Or(strings.Join(parts, "\n\n"), text), true
		}
		parts, text = append(parts, strings.TrimSpace(content)), rest
	}
}

// isFromOthers reports whether a text without an origin is what Claude Code was told by another session or by a hook: it says so first
// (READ 2.1.332).
func isFromOthers(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	_, hook, _ := strings.Cut(first, " hook feedback")
	return strings.HasPrefix(hook, ":") && len(first) < textStartLimit || beginsWith(text, teamIntroduction,
		"Another Claude session sent a message while you were working:", "A peer session sent a message while you were working:")
}

// tagName returns the name of the element that a text begins with: a lower-case letter, then letters, digits, "_" or "-", then white space
// or ">".
func tagName(text string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "<")
	after := strings.TrimLeftFunc(rest, func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-'
	})
	name = strings.TrimSuffix(rest, after)
	return name, ok && name != "" && name[0] >= 'a' && strings.IndexAny(after, "> \t\r\n") == 0
}

// apiError returns what the API, or its client library, said of a failed attempt.
func apiError(raw []byte) string {
	var e struct {
		Formatted, Message string
		Status             json.RawMessage
		Error              struct {
			Message string
			Error   struct{ Message string }
		}
	}
	_ = json.Unmarshal(raw, &e) // members that do not parse stay empty
	status := "API error"
	if e.Status != nil {
		status += " " + string(e.Status)
	}
	return cmp.Or(e.Formatted, e.Message, e.Error.Error.Message, e.Error.Message, status)
}

// What the user pastes into a TUI, if it is long or has several lines, is stored between tags, so that the model can tell
// it from what was typed. The digits are random, one number per process (SEEN 2.1.329, 2.1.330; 2.1.197 stores pasted text
// like typed text):
//
//	look at this: \n\n<pasted_content id="3754">\nline\nline\n</pasted_content id="3754">\n\n and say why
const (
	// pasteTag begins such a text.
	pasteTag   = "<pasted_content"
	pasteBegin = pasteTag + ` id="`
	pasteEnd   = `</pasted_content id="`
	pasteID    = 4 // hexadecimal digits
	pasteClose = `">`
)

// stripPasteTags removes these tags and the line ends that Claude Code adds around them, by its own rule, so that the
// user's prompt is left. pasted reports whether there were any tags. more says that the text may be cut, so that an end tag is missing.
func stripPasteTags(text string, more bool) (prompt string, pasted bool) {
	var whole strings.Builder
	for {
		before, rest, ok := strings.Cut(text, pasteBegin)
		id := rest[:min(len(rest), pasteID)]
		content, opened := strings.CutPrefix(rest[len(id):], pasteClose)
		if ok && !(opened && isPasteID(id) && strings.HasPrefix(content, "\n")) {
			whole.WriteString(before + pasteBegin)
			text = rest
			continue
		}
		body, after, closed := strings.Cut(content, "\n"+pasteEnd+id+pasteClose)
		if !ok || !closed && !more {
			return whole.String() + text, pasted
		}
		pasted = true
		whole.WriteString(trimLines(before, strings.TrimSuffix))
		whole.WriteString(strings.TrimPrefix(body, "\n"))
		text = trimLines(after, strings.TrimPrefix)
	}
}

func isPasteID(id string) bool {
	return len(id) == pasteID && strings.Trim(id, "0123456789abcdef") == ""
}

// trimLines removes up to two line ends.
func trimLines(s string, trim func(s, end string) string) string { return trim(trim(s, "\n"), "\n") }
