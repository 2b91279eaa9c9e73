package transcript

import "agentctl/discover/native/jsonl"

// ParseLegacyMetadata parses the JSON file of a session (before 1.2).
func ParseLegacyMetadata(data []byte) (m Metadata) {
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "id":
			m.ID = v.Text(NameLimit)
		case "title":
			m.Title = ParseTitle(v.Text(PathLimit))
		case "version":
			m.Version = v.Text(NameLimit)
		case "directory":
			m.Dir = v.Text(PathLimit)
		case "parentID":
			m.Parent = v.Text(NameLimit)
		case "permission":
			m.Headless = IsHeadlessPermission(string(v.Raw()))
		case "slug":
			m.Slug = v.Text(NameLimit)
		case "projectID":
			m.ProjectID = v.Text(NameLimit)
		case "time":
			o := v.Object()
			m.Created, m.Updated = o.Get("created").Int(), o.Get("updated").Int()
			m.Archived = o.Get("archived").Int() > 0
		}
	}
	return m
}
