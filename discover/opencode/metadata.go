package opencode

import (
	"strings"
	"time"

	"agentctl/discover/native/jsonl"
)

// metadata is what OpenCode stores of a session beside its messages: a row of a database, or a JSON file (before 1.2).
type metadata struct {
	ID, Parent, ProjectID, Slug string
	Dir, Title, Version         string
	// Agent, Model and Variant are those of the newest prompt (1.14 and later).
	Agent, Model, Variant string
	// Headless: `opencode run` made the session. It denies the agent to ask questions (SEEN 1.1.65, 1.18.33).
	Headless         bool
	Archived         bool
	Created, Updated int64 // in milliseconds since 1970
	Usage            usage // of its messages, as the agent has added it up (1.15 and later)
}

// parseTitle returns a session's title; "" for the title that the agent gives to each new session: "New session - " or "Child
// session - " and the time (SEEN 0.5 to 1.18).
func parseTitle(title string) string {
	for _, usual := range [...]string{"New session - ", "Child session - "} {
		if rest, ok := strings.CutPrefix(title, usual); ok {
			rest, _, _ = strings.Cut(rest, " (fork #")
			if _, err := time.Parse(time.RFC3339Nano, rest); err == nil {
				return ""
			}
		}
	}
	return title
}

// parseModel parses {"id","providerID","variant"}. The variant is "" if it is the default.
func parseModel(o jsonl.Object) (name, variant string) {
	if variant = o.Get("variant").Text(nameLimit); variant == "default" {
		variant = ""
	}
	return modelName(o.Get("providerID").Text(nameLimit), o.Get("id").Text(nameLimit)), variant
}

// isHeadlessPermission reports whether a session's permissions, as JSON, are those that `opencode run` sets for the sessions it makes.
func isHeadlessPermission(permission string) bool {
	return strings.Contains(permission, `"question"`) && strings.Contains(permission, `"deny"`)
}
