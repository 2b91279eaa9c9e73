package output

import (
	"math"

	"agentctl/discover"
)

// Process is the JSON object of one process: of the process tree of a session, or an orphan.
type Process struct {
	PID       int    `json:"pid"`
	PPID      int    `json:"ppid"`
	Name      string `json:"name"`
	Command   string `json:"command,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
	// CPU is processor time in seconds; Memory is resident memory in bytes.
	CPU    *float64 `json:"cpu,omitempty"`
	Memory *int64   `json:"memory,omitempty"`
	// Ports are the TCP ports on which it listens, in its own network namespace.
	Ports []int `json:"ports,omitempty"`
	// Shared: the process serves other sessions as well, or may.
	Shared bool `json:"shared,omitempty"`
	// Adapter and Sessions are set if the process runs, or works for, other sessions only. Its descendants are listed
	// with those.
	Adapter  string   `json:"adapter,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
}

// depths returns the distance of each process to the root of its tree. A parent stands before its children.
func depths(processes []Process) []int {
	out, byPID := make([]int, len(processes)), map[int]int{}
	for i, p := range processes {
		if above, ok := byPID[p.PPID]; ok {
			out[i] = above + 1
		}
		byPID[p.PID] = out[i]
	}
	return out
}

// Changes counts the uncommitted files of a worktree, and the commits ahead of and behind its upstream.
type Changes struct {
	Changed   int    `json:"changed"`
	Untracked int    `json:"untracked"`
	Upstream  string `json:"upstream,omitempty"`
	Ahead     *int   `json:"ahead,omitempty"`
	Behind    *int   `json:"behind,omitempty"`
}

// Quota is a usage limit of the agent's provider, as the agent recorded it.
type Quota struct {
	Name     string   `json:"name,omitempty"`
	Used     *float64 `json:"used,omitempty"`
	Reached  bool     `json:"reached,omitempty"`
	ResetsAt string   `json:"resetsAt,omitempty"`
	Text     string   `json:"text,omitempty"`
	Time     string   `json:"time,omitempty"`
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

// finite returns nil for a number that JSON cannot express.
func finite(n *float64) *float64 {
	if n == nil || math.IsInf(*n, 0) || math.IsNaN(*n) {
		return nil
	}
	return n
}
