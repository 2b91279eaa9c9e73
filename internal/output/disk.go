package output

import (
	"cmp"
	"io"
	"strconv"
)

// DiskUsage is the JSON object of `du`.
type DiskUsage struct {
	// By is what the rows stand for: agent, project, session or month.
	By    string    `json:"by"`
	Rows  []DiskRow `json:"rows"`
	Total DiskRow   `json:"total"`
}

// DiskRow is one row of `du`, or its total.
type DiskRow struct {
	// Key is the agent, directory, session ID or month; absent in the total, and for what belongs to no session.
	Key string `json:"key,omitempty"`
	// Adapter is the agent of a session, and of what belongs to none.
	Adapter string `json:"adapter,omitempty"`
	// Title, Project and LastActivityAt are those of a session.
	Title          string `json:"title,omitempty"`
	Project        string `json:"project,omitempty"`
	LastActivityAt string `json:"lastActivityAt,omitempty"`
	// Path is what it is that belongs to no session.
	Path string `json:"path,omitempty"`
	// Bytes are allocated on disk. Estimated: a part of them are rows in a database that others share.
	Bytes     int64 `json:"bytes"`
	Estimated bool  `json:"estimated,omitempty"`
	// Sessions is the number of sessions, without sub-agents.
	Sessions int `json:"sessions"`
	// Parts are what the bytes are, the largest first.
	Parts []DiskPart `json:"parts,omitempty"`
}

// DiskPart is a part of what a row takes.
type DiskPart struct {
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
}

// DiskTable writes a header, one row for each of the report's, and the total.
func DiskTable(w io.Writer, u DiskUsage, opts TextOptions) error {
	g := grid{columns: []column{
		{header: "SIZE", alignRight: true},
		{header: "", dropOrder: 3},
		{header: diskHeader(u.By), preferred: 30, min: 10, keepEnd: u.By != "month"},
		{header: "AGENT", dropOrder: 4},
		{header: "SESSIONS", dropOrder: optional + 1, alignRight: true},
		{header: "LAST", dropOrder: optional, alignRight: true},
		{header: "WHAT", dropOrder: 5, preferred: 24, min: 10},
		{header: "TITLE", dropOrder: 2, preferred: 20, min: 12},
	}}
	fullIDs := make([]SessionID, len(u.Rows))
	for i, r := range u.Rows {
		fullIDs[i] = SessionID{r.Adapter, r.Key}
	}
	ids := opts.ShortIDs(fullIDs)
	add := func(name string, r DiskRow, title string) {
		size, sessions, age := ByteSize(r.Bytes), "", ""
		if r.Estimated {
			size = "~" + size
		}
		if r.Sessions > 0 && u.By != "session" {
			sessions = strconv.Itoa(r.Sessions)
		}
		if t, ok := parseTimestamp(r.LastActivityAt); ok {
			age = Age(t, opts.Now)
		}
		g.add(row{cells: []string{
			size, percentText(r.Bytes, u.Total.Bytes), Sanitize(name), r.Adapter, sessions, age, Sanitize(partsText(r.Parts)), Sanitize(title),
		}})
	}
	for i, r := range u.Rows {
		name := r.Key
		switch {
		case r.Key == "":
			name = cmp.Or(opts.shortDir(r.Path), "-")
		case u.By == "session":
			name = ids[i]
		case u.By == "project":
			name = opts.shortDir(r.Key)
		}
		add(name, r, r.Title)
	}
	if len(u.Rows) > 1 {
		add("total", DiskRow{Bytes: u.Total.Bytes, Estimated: u.Total.Estimated, Sessions: u.Total.Sessions}, "")
	}
	return g.print(w, opts)
}

func diskHeader(by string) string {
	switch by {
	case "agent":
		return "AGENT"
	case "month":
		return "MONTH"
	case "project":
		return "PROJECT"
	}
	return "SESSION"
}

func percentText(n, all int64) string {
	if all <= 0 {
		return ""
	}
	return strconv.FormatInt(100*n/all, 10) + "%"
}

// partsText names the largest parts.
func partsText(parts []DiskPart) string {
	text := ""
	const most = 2
	for _, p := range parts[:min(most, len(parts))] {
		if text != "" {
			text += ", "
		}
		text += p.Kind + " " + ByteSize(p.Bytes)
	}
	if len(parts) > most {
		text += ", …"
	}
	if len(parts) == 1 {
		return parts[0].Kind
	}
	return text
}
