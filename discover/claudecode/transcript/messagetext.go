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
