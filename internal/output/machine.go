package output

import (
	"math"

	"agentctl/discover"
)

// Resources is what a session does on the machine, beside what its agent stores.
type Resources struct {
	// Processes are its tree, each before what it has started.
	Processes []Process
	// Orphans are the processes that it has left behind, if it is stopped.
	Orphans []Process
	// Changes is nil where there is nothing to be told of; Unchecked says why, if there should be.
	Changes      *Changes
	ChangesError string
}

// Process is one process of a session's tree, or one that the session has left behind.
type Process struct {
	PID       int    `json:"pid"`
	PPID      int    `json:"ppid"`
	Name      string `json:"name"`
	Command   string `json:"command,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
	// CPU is the processor time that it has used, in seconds; Memory what it has in physical memory, in bytes.
	CPU    *float64 `json:"cpu,omitempty"`
	Memory *int64   `json:"memory,omitempty"`
	// Ports are the TCP ports that it listens on, in its own network namespace.
	Ports []int `json:"ports,omitempty"`
	// Shared: it serves other sessions as well, or may.
	Shared bool `json:"shared,omitempty"`
	// Adapter and Sessions are set where it runs, or works for, other sessions only; these have the rest of its tree.
	Adapter  string   `json:"adapter,omitempty"`
	Sessions []string `json:"sessions,omitempty"`

	// Depth is how far it stands below the top of the tree.
	Depth int `json:"-"`
}

// Changes are what is not committed in a session's worktree.
type Changes struct {
	Changed   int    `json:"changed"`
	Untracked int    `json:"untracked"`
	Upstream  string `json:"upstream,omitempty"`
	Ahead     *int   `json:"ahead,omitempty"`
	Behind    *int   `json:"behind,omitempty"`
}

// Quota is a limit of the agent's provider, as the agent recorded it.
type Quota struct {
	Name     string   `json:"name,omitempty"`
	Used     *float64 `json:"used,omitempty"`
	Reached  bool     `json:"reached,omitempty"`
	ResetsAt string   `json:"resetsAt,omitempty"`
	Text     string   `json:"text,omitempty"`
	Time     string   `json:"time,omitempty"`
}

// NewSessionWithResources puts a session into the contract's words, with what it does on the machine.
func NewSessionWithResources(s discover.Session, m Resources) Session {
	out := NewSession(s)
	out.Processes, out.Orphans, out.Changes = m.Processes, m.Orphans, m.Changes
	return out
}

func newQuotas(s *discover.Session) []Quota {
	var out []Quota
	for _, q := range s.Quotas {
		out = append(out, Quota{
			Name: q.Name, Used: finite(q.Used), Reached: q.Reached, ResetsAt: Timestamp(q.Resets), Text: q.Text, Time: Timestamp(q.Time),
		})
	}
	return out
}

// finite drops what JSON has no number for.
func finite(n *float64) *float64 {
	if n == nil || math.IsInf(*n, 0) || math.IsNaN(*n) {
		return nil
	}
	return n
}
