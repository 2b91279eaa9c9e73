// Package export renders a session with all of its messages for people: as Markdown, or as an HTML page.
//
// Everything in a transcript is untrusted. It cannot leave the place that the renderer gives it, and in the page nothing of it
// runs or is loaded.
package export

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// fact is a line of a session's header.
type fact struct{ Name, Value string }

// title is the title of a session on one line.
func title(s object.Session) string {
	return cmp.Or(render.Sanitize(s.Title), render.Truncate(render.Sanitize(s.Prompt), titleLimit), "Session "+sessionID(s))
}

// titleLimit bounds a title that is made of the first prompt, in columns.
const titleLimit = 80

func sessionID(s object.Session) string {
	return cmp.Or(render.Sanitize(object.Known(s.ID)), "-")
}

// facts are what the header says of a session.
func facts(s object.Session) []fact {
	status := s.Status
	if s.Outcome != "" {
		status += ", " + s.Outcome
	}
	all := []fact{
		{"Session", sessionID(s)},
		{"Host", s.Host},
		{"Agent", strings.TrimSpace(s.Adapter + " " + s.Version)},
		{"Model", s.Model},
		{"Directory", s.CWD},
		{"Branch", s.Branch},
		{"Started", timeText(s.StartedAt)},
		{"Last activity", timeText(s.LastActivityAt)},
		{"Status", status},
		{"Error", s.Error},
	}
	for i := range all {
		all[i].Value = render.Sanitize(all[i].Value)
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// timeText is a JSON time for people, in UTC: who reads an export may be in another zone than who made it.
func timeText(at string) string {
	if len(at) < len("2006-01-02T15:04:05") {
		return ""
	}
	return render.Sanitize(at[:10] + " " + at[11:19] + " UTC")
}

// heading is who says a message, or what happened.
func heading(m object.Message) string {
	kinds := map[discover.MessageKind]string{
		discover.KindError: "Error", discover.KindInterruption: "Interrupted", discover.KindCompaction: "Context compacted",
	}
	roles := map[discover.Role]string{discover.RoleUser: "User", discover.RoleAssistant: "Assistant"}
	return cmp.Or(kinds[discover.MessageKind(m.Kind)], roles[discover.Role(m.Role)], "System")
}

// text is the text of a message, without what controls a terminal or reorders text.
func text(m object.Message) string { return strings.Trim(render.SanitizeLines(m.Content()), "\n") }

// input is what a tool was called with, as text.
func input(c *object.ToolCall) string {
	return strings.TrimRight(render.SanitizeLines(render.InputText(c.Input)), "\n")
}

// result is what a tool returned.
func result(c *object.ToolCall) string {
	return strings.TrimRight(render.SanitizeLines(c.Result()), "\n")
}

// childrenByPlace returns for each message the sub-agents that began after it and before the next message. The agents do not
// all record which call starts a sub-agent. What began before all messages is at place -1, and what has no time is behind the last.
func childrenByPlace(e object.Export) map[int][]object.Export {
	places := map[int][]object.Export{}
	for _, child := range e.Children {
		place := len(e.Messages) - 1
		if began := beginning(child); began != "" {
			for place >= 0 && (e.Messages[place].Time == "" || e.Messages[place].Time > began) {
				place--
			}
		}
		places[place] = append(places[place], child)
	}
	return places
}

// beginning is the time of a session's first message, else of its start.
func beginning(e object.Export) string {
	for _, m := range e.Messages {
		if m.Time != "" {
			return m.Time
		}
	}
	return e.Session.StartedAt
}
