package output

import (
	"cmp"
	"io"
	"strings"
)

// HostCheck is the JSON object of a host of `host check`.
type HostCheck struct {
	Host        string `json:"host"`
	Destination string `json:"destination"`
	// Version, Schema, OS and Arch are those of the agentctl there; absent if none has answered.
	Version string `json:"version,omitempty"`
	Schema  string `json:"schema,omitempty"`
	OS      string `json:"os,omitempty"`
	Arch    string `json:"arch,omitempty"`
	// Agents are those that a command there finds in its PATH.
	Agents []HostAgent `json:"agents"`
	// Problem says why the host cannot be asked.
	Problem string `json:"problem,omitempty"`
}

// HostAgent is an agent that is installed on a host.
type HostAgent struct {
	Adapter string `json:"adapter"`
	Version string `json:"version,omitempty"`
}

// HostTable writes a header, and one row for each host.
func HostTable(w io.Writer, hosts []HostCheck, opts TextOptions) error {
	return newGrid(
		len(hosts),
		column{title: "HOST", cell: func(i int) string { return hosts[i].Host }},
		column{title: "AGENTCTL", cell: func(i int) string { return Sanitize(cmp.Or(hosts[i].Version, "-")) }},
		column{title: "PLATFORM", cell: func(i int) string { return Sanitize(cmp.Or(strings.Trim(hosts[i].OS+"/"+hosts[i].Arch, "/"), "-")) }, dropLate: 2},
		column{title: "AGENTS", cell: func(i int) string { return hosts[i].agentsText() }, dropLate: 1, preferred: 30, min: 12},
		column{title: "PROBLEM", cell: func(i int) string { return Sanitize(hosts[i].Problem) }, preferred: 30, min: 12},
	).print(w, opts)
}

func (h *HostCheck) agentsText() string {
	var out []string
	for _, a := range h.Agents {
		out = append(out, strings.TrimSpace(a.Adapter+" "+a.Version))
	}
	return Sanitize(cmp.Or(strings.Join(out, ", "), "-"))
}

// SessionRows are all sessions of a table, as the list --watch of another machine gets them whenever one has changed.
type SessionRows struct {
	Sessions []Session `json:"sessions"`
}
