package output

import (
	"math"

	"agentctl/discover"
	"agentctl/proc/multiplexer"
)

// Resources is what a session uses on the machine: processes, orphans, and uncommitted changes in its worktree.
// None of it comes from the storage of the agent.
type Resources struct {
	// Processes is the process tree of the session, each parent before its children.
	Processes []Process
	// Orphans are the processes that a stopped session left running.
	Orphans []Process
	// Changes is nil if there is nothing to report; ChangesError says why if git could not be asked.
	Changes      *Changes
	ChangesError string
	// Pane is where the session runs by the word of its multiplexer. It counts only if Located is set; else what its processes show counts.
	Pane    *multiplexer.Pane
	Located bool
}

// pane returns where the session runs; nil if that is not known.
func (r Resources) pane(s *discover.Session) *multiplexer.Pane {
	if r.Located {
		return r.Pane
	}
	return s.Pane()
}

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

	// Depth is the distance to the root of the tree.
	Depth int `json:"-"`
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

func NewSessionWithResources(s discover.Session, r Resources) Session {
	out := NewSession(s)
	out.Processes, out.Orphans, out.Changes = r.Processes, r.Orphans, r.Changes
	if r.Located {
		out.Terminal = newTerminal(r.Pane)
	}
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

// finite returns nil for a number that JSON cannot express.
func finite(n *float64) *float64 {
	if n == nil || math.IsInf(*n, 0) || math.IsNaN(*n) {
		return nil
	}
	return n
}
