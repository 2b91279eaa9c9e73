package opencode

import "agentctl/discover/native/jsonl"

// parseLegacyMetadata parses the JSON file of a session (before 1.2).
func parseLegacyMetadata(data []byte) (m metadata) {
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "id":
			m.ID = v.Text(nameLimit)
		case "title":
			m.Title = parseTitle(v.Text(pathLimit))
		case "version":
			m.Version = v.Text(nameLimit)
		case "directory":
			m.Dir = v.Text(pathLimit)
		case "parentID":
			m.Parent = v.Text(nameLimit)
		case "permission":
			m.Headless = isHeadlessPermission(string(v.Raw()))
		case "slug":
			m.Slug = v.Text(nameLimit)
		case "projectID":
			m.ProjectID = v.Text(nameLimit)
		case "time":
			o := v.Object()
			m.Created, m.Updated = o.Get("created").Int(), o.Get("updated").Int()
			m.Archived = o.Get("archived").Int() > 0
		}
	}
	return m
}
