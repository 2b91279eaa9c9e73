package claudecode

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/discover"
)

// words are a text, whose it is and what it is. An empty text is not shown.
type words struct {
	role discover.Role
	kind discover.Kind
	text string
}

// notice is what Claude Code itself says.
func notice(text string) words { return words{discover.System, discover.KindText, text} }

func failed(text string) words { return words{discover.System, discover.KindError, text} }

// marked understands what Claude Code writes in tags, or has a phrase for; not ok if the text is neither.
func marked(text string) (w words, ok bool) {
	if strings.HasPrefix(text, interrupted) && strings.HasSuffix(text, "]") && !strings.Contains(text, "\n") {
		return words{discover.System, discover.KindInterruption, text}, true
	}
	name, ok := tagName(text)
	if !ok {
		return words{}, false
	}
	typed := func(text string) words { return words{discover.User, discover.KindText, text} }
	switch name {
	case "command-name", "command-message":
		command := strings.TrimSpace(tag(text, "command-name") + " " + tag(text, "command-args"))
		return typed(command), command != ""
	case "bash-input":
		return typed("! " + tag(text, name)), true
	case "user-memory-input":
		return typed("# " + tag(text, name)), true
	case "local-command-stdout", "local-command-stderr":
		return notice(inner(text, name)), true
	case "bash-stdout", "bash-stderr":
		out, errs := inner(text, "bash-stdout"), inner(text, "bash-stderr")
		if out != "" && errs != "" && !strings.HasSuffix(out, "\n") {
			out += "\n"
		}
		return notice(out + errs), true
	case "task-notification":
		return notice(cmp.Or(tag(text, "summary"), text)), true
	case "local-command-caveat", "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics":
		return words{}, strings.HasSuffix(strings.TrimSpace(text), "</"+name+">")
	}
	return words{}, false
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
	_ = unmarshal(raw, &e) // what is not known is not said
	status := "API error"
	if e.Status != nil {
		status += " " + string(e.Status)
	}
	return cmp.Or(e.Formatted, e.Message, e.Error.Error.Message, e.Error.Message, status)
}
