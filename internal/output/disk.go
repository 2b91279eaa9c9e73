package output

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
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
	names := shortIDsOf(opts, u.Rows, func(r DiskRow) SessionID { return SessionID{r.Adapter, r.Key} })
	for i, r := range u.Rows {
		switch {
		case r.Key == "":
			names[i] = Sanitize(cmp.Or(opts.shortDir(r.Path), "-"))
		case u.By == "project":
			names[i] = Sanitize(opts.shortDir(r.Key))
		case u.By != "session":
			names[i] = Sanitize(r.Key)
		}
	}
	rows := u.Rows
	if len(rows) > 1 {
		total := DiskRow{Bytes: u.Total.Bytes, Estimated: u.Total.Estimated, Sessions: u.Total.Sessions}
		rows, names = append(slices.Clone(rows), total), append(names, "total")
	}
	return newGrid(
		len(rows),
		column{title: "SIZE", cell: func(i int) string { return rows[i].SizeText() }, alignRight: true},
		column{cell: func(i int) string { return percentText(rows[i].Bytes, u.Total.Bytes) }, dropLate: 3},
		column{title: strings.ToUpper(u.By), cell: func(i int) string { return names[i] }, preferred: 30, min: 10, keepEnd: u.By != "month"},
		column{title: "AGENT", cell: func(i int) string { return rows[i].Adapter }, dropLate: 4},
		column{title: "SESSIONS", cell: func(i int) string { return rows[i].sessionsText(u.By) }, dropEarly: 2, alignRight: true},
		column{title: "LAST", cell: func(i int) string { return ageText(rows[i].LastActivityAt, opts.Now) }, dropEarly: 1, alignRight: true},
		column{title: "WHAT", cell: func(i int) string { return Sanitize(partsText(rows[i].Parts)) }, dropLate: 5, preferred: 24, min: 10},
		column{title: "TITLE", cell: func(i int) string { return Sanitize(rows[i].Title) }, dropLate: 2, preferred: 20, min: 12},
	).print(w, opts)
}

// SizeText is the size; "~" marks one that is estimated.
func (r DiskRow) SizeText() string {
	if r.Estimated {
		return "~" + ByteSize(r.Bytes)
	}
	return ByteSize(r.Bytes)
}

// sessionsText is the number of sessions; "" in a row that is one.
func (r DiskRow) sessionsText(by string) string {
	if r.Sessions <= 0 || by == "session" {
		return ""
	}
	return strconv.Itoa(r.Sessions)
}

func percentText(n, all int64) string {
	if all <= 0 {
		return ""
	}
	return strconv.FormatInt(100*n/all, 10) + "%"
}

// partsText names the largest parts.
func partsText(parts []DiskPart) string {
	const most = 2
	if len(parts) == 1 {
		return parts[0].Kind
	}
	var texts []string
	for _, p := range parts[:min(most, len(parts))] {
		texts = append(texts, p.Kind+" "+ByteSize(p.Bytes))
	}
	if len(parts) > most {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}
