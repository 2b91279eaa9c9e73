package transcript

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/discover"
)

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
	case "local-command-caveat", "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics":
		return messageText{}, strings.HasSuffix(strings.TrimSpace(text), "</"+name+">")
	}
	return messageText{}, false
}

// What a teammate, or its lead, is told by another one is a user record: elements with the name of the sender, for the lead
// after an introduction and before a notice (SEEN 2.1.332). It has no origin.
const (
	teamIntroduction = "Another Claude session sent a message:\n"
	teamElement      = "<teammate-message "
)

// isTeamText reports whether a text is what a teammate was told by another one, by its beginning.
func isTeamText(text string) bool {
	return strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(text), teamIntroduction), teamElement)
}

// teamText returns what a teammate was told by another one. ok is false for other texts.
func teamText(text string) (told string, ok bool) {
	if !isTeamText(text) {
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

// tagName returns the name of the element that a text begins with.
func tagName(text string) (name string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if !startsWithTag(text) {
		return "", false
	}
	name, _, ok = strings.Cut(text[1:], ">")
	return name, ok
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
