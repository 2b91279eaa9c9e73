package object

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

// SessionRows are all sessions of a table, as the list --watch of another machine gets them whenever one has changed.
type SessionRows struct {
	Sessions []Session `json:"sessions"`
}
