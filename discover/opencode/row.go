package opencode

import (
	"cmp"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/sqlite"
)

// maxText is the most characters of one text column that are read.
const maxText = 65536

// newStored makes a session of a row of the session table. Columns come with versions: agent and model with 1.14, cost
// and tokens with 1.15 (SEEN); none was ever removed. Meta: slug (the agent's readable name of it), projectID (root commit
// of the git project, or "global"), agent (the mode of work, as "build" or "plan"), variant (of the model, unless it is the
// usual one).
func newStored(r *sqlite.Row, home, path string) stored {
	text := func(column string) string { return r.Text(column, maxText) }
	s := stored{headless: runPermission(text("permission"))}
	created := r.Int("time_created")
	s.Record = discover.Record{
		Agent: discover.OpenCode, ID: text("id"), Path: path, Home: home, Dir: text("directory"), Title: text("title"),
		Version: text("version"), Created: millis(created), Updated: millis(cmp.Or(r.Int("time_updated"), created)),
		Parent: text("parent_id"), Archived: r.Int("time_archived") > 0,
	}
	if s.headless {
		s.Source = modeRun.source()
	}
	model := native.Object(r.Bytes("model", maxPart))
	s.Model = modelName(member(model, "providerID").Text(shortLimit), member(model, "id").Text(shortLimit))
	variant := member(model, "variant").Text(shortLimit)
	if variant == "default" {
		variant = ""
	}
	s.Meta = discover.Facts{
		{"agent", text("agent")}, {"projectID", text("project_id")}, {"slug", text("slug")}, {"variant", variant},
	}.Known()
	s.give(storedUsage(r))
	return s
}
