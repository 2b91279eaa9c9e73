package object

import "agentctl/discover"

// Usage is the JSON object of `usage`.
type Usage struct {
	// By is what the rows stand for: day, week, month, project, model, agent or session.
	By string `json:"by"`
	// Since is the beginning of the time that the report covers; absent if that is all that is stored. Until is its end.
	Since string     `json:"since,omitempty"`
	Until string     `json:"until"`
	Rows  []UsageRow `json:"rows"`
	Total UsageRow   `json:"total"`
	// UnpricedModels are the models without a price in the file of --prices.
	UnpricedModels []string `json:"unpricedModels,omitempty"`
}

// UsageRow is one row of `usage`, or its total.
type UsageRow struct {
	// Host is the machine of a project or a session; absent for this one, and where several machines are added up.
	Host string `json:"host,omitempty"`
	// Key is the day, week, month, directory, model, agent or session ID; absent in the total, and in the row of what no agent has said that of.
	Key string `json:"key,omitempty"`
	// Adapter, Title and Project are those of a session.
	Adapter string `json:"adapter,omitempty"`
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	// Tokens are disjoint; see docs/json.md.
	Tokens Tokens `json:"tokens"`
	// Cost is the agents' own figure in USD; absent if they have none. CostPartial: a part of the tokens has none.
	Cost        *float64 `json:"cost,omitempty"`
	CostPartial bool     `json:"costPartial,omitempty"`
	// ReckonedCost is what the tokens cost by the prices of --prices. ReckonedPartial: a part of them has no price.
	ReckonedCost    *float64 `json:"reckonedCost,omitempty"`
	ReckonedPartial bool     `json:"reckonedPartial,omitempty"`
	// Sessions is the number of sessions that used them, without sub-agents.
	Sessions int `json:"sessions"`
}

// UsageLimit is the newest word of an agent's provider on a limit.
type UsageLimit struct {
	// Host is the machine of the session; absent for this one.
	Host    string `json:"host,omitempty"`
	Adapter string `json:"adapter"`
	// Model is that of the session; it tells the provider of an agent that has several.
	Model string `json:"model,omitempty"`
	// SessionID is the session that recorded it.
	SessionID string `json:"sessionId"`
	Quota
}

func NewUsageLimit(q discover.StatedQuota) UsageLimit {
	return UsageLimit{Adapter: string(q.Agent), Model: q.Model, SessionID: q.Session, Quota: newQuota(q.Quota)}
}

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

// Metric is a metric with its samples. It is a gauge unless Counter is set. The labels of each sample must be
// unique.
type Metric struct {
	Name    string   `json:"name"`
	Help    string   `json:"help"`
	Counter bool     `json:"counter,omitempty"`
	Samples []Sample `json:"samples"`
}

// Sample is one value of a metric.
type Sample struct {
	Labels []Label `json:"labels,omitempty"`
	Value  float64 `json:"value"`
}

// Label is the name of a dimension and its value.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Add adds a sample; labels alternates names and values.
func (m *Metric) Add(value float64, labels ...string) {
	s := Sample{Value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels = append(s.Labels, Label{labels[i], labels[i+1]})
	}
	m.Samples = append(m.Samples, s)
}
