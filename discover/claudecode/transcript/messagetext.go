package transcript

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/discover"
)

// messageText are a text, whose it is and what it is. An empty text is not shown.
type messageText struct {
	role discover.Role
	kind discover.MessageKind
	text string
}

// systemText is what Claude Code itself says.
func systemText(text string) messageText {
	return messageText{discover.RoleSystem, discover.KindText, text}
}

func errorText(text string) messageText {
	return messageText{discover.RoleSystem, discover.KindError, text}
}

// parseTagged understands what Claude Code writes in tags, or has a phrase for; not ok if the text is neither.
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

// tagName is the name of the element that a text begins with.
func tagName(text string) (name string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if !startsWithTag(text) {
		return "", false
	}
	name, _, ok = strings.Cut(text[1:], ">")
	return name, ok
}

// apiError is what the API said, or the library that asked it, of an attempt that failed.
func apiError(raw []byte) string {
	var e struct {
		Formatted, Message string
		Status             json.RawMessage
		Error              struct {
			Message string
			Error   struct{ Message string }
		}
	}
	_ = json.Unmarshal(raw, &e) // what is not known is not said
	status := "API error"
	if e.Status != nil {
		status += " " + string(e.Status)
	}
	return cmp.Or(e.Formatted, e.Message, e.Error.Error.Message, e.Error.Message, status)
}
