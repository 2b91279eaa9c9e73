package opencode

import (
	"cmp"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
)

// maxText is the most characters of one text column that are kept: those of the longest path. It bounds what a record takes.
const maxText = 4096

// maxRowJSON is the most bytes of the JSON in a session row.
const maxRowJSON = 65536

// newSession makes a session of a row of the session table. Columns come with versions: agent and model with 1.14, cost
// and tokens with 1.15 (SEEN); none was ever removed. Meta: slug (the agent's readable name of it), projectID (root commit
// of the git project, or "global"), agent (the mode of work, as "build" or "plan"), variant (of the model, unless it is the
// usual one).
func (st *database) newSession(r *sqlite.Row) session {
	text := func(column string) string { return r.Text(column, shortLimit) }
	s := session{headless: isHeadlessPermission(r.Text("permission", maxRowJSON))}
	created := r.Int("time_created")
	s.Record = discover.Record{
		Agent: agentName, ID: text("id"), Path: st.path, Home: st.home, Dir: r.Text("directory", maxText), Title: title(r.Text("title", maxText)),
		Version: text("version"), Created: timeOf(created), Updated: timeOf(cmp.Or(r.Int("time_updated"), created)),
		Parent: text("parent_id"), Archived: r.Int("time_archived") > 0,
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	var variant string
	s.Model, variant = parseModel(r.Bytes("model", maxRowJSON))
	s.Meta = discover.Facts{
		{"agent", text("agent")}, {"projectID", text("project_id")}, {"slug", text("slug")}, {"variant", variant},
	}.WithoutEmpty()
	s.setUsage(storedUsage(r))
	return s
}

// title is a session's title, "" while it has the one that the agent gives to all at first: "New session - " or "Child
// session - " and the time (SEEN 0.5 to 1.18).
func title(title string) string {
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

// parseModel reads {"id","providerID","variant"}.
func parseModel(o jsonl.Object) (name, variant string) {
	if variant = o.Get("variant").Text(shortLimit); variant == "default" {
		variant = ""
	}
	return modelName(o.Get("providerID").Text(shortLimit), o.Get("id").Text(shortLimit)), variant
}
