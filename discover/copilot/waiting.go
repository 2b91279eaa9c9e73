package copilot

import (
	"cmp"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Why a turn waits, by the words that all agents share.
const (
	permissionWord = "permission"
	questionWord   = "question"
)

// The tools that ask the user: for an answer, and for the approval of a plan.
const (
	askTool  = "ask_user"
	planTool = "exit_plan_mode"
)

func isQuestion(tool string) bool { return tool == askTool || tool == planTool }

// questionOf describes an open call of such a tool. Up to 1.0.12 the question has another name.
func questionOf(tool string, input storage.Object) *discover.WaitingOn {
	if tool == planTool {
		return discover.NewWaitingOn(tool, input.Get("summary").Text(0), "", nil)
	}
	text := cmp.Or(input.Get("message").Text(0), input.Get("question").Text(0))
	return discover.NewWaitingOn(tool, text, "", []string{text})
}

// permissionOf describes a request for permission: the very command, file or address that the dialog shows.
func permissionOf(r storage.Object) *discover.WaitingOn {
	kind, text := r.Get("kind").Text(idLimit), func(key string) string { return r.Get(key).Text(0) }
	path, brief := "", ""
	switch kind {
	case "shell":
		brief = text("fullCommandText")
	case "write":
		path = text("fileName")
	case "read":
		path = text("path")
	case "url":
		brief = text("url")
	case "mcp":
		brief = strings.Trim(text("serverName")+": "+cmp.Or(text("toolTitle"), text("toolName")), ": ")
	}
	on := discover.NewWaitingOn(kind, cmp.Or(brief, path, text("intention")), path, nil)
	if diff := text("diff"); kind == "write" && diff != "" {
		added, removed := countDiff(diff)
		on.Diff = discover.NewDiff(added, removed, true)
	}
	return on
}

// countDiff counts the lines that a unified diff adds and removes.
func countDiff(diff string) (added, removed int) {
	body := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			body = true
		case body && strings.HasPrefix(line, "+"):
			added++
		case body && strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}
