package object

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

// Changes counts the uncommitted files of a worktree, and the commits ahead of and behind its upstream.
type Changes struct {
	Changed   int    `json:"changed"`
	Untracked int    `json:"untracked"`
	Upstream  string `json:"upstream,omitempty"`
	Ahead     *int   `json:"ahead,omitempty"`
	Behind    *int   `json:"behind,omitempty"`
}

// Orphan is the JSON object of one process that a stopped session left running, as list --orphans --json prints
// it. Adapter and SessionID name the session.
type Orphan struct {
	Process
	// SessionID is absent if the environment marker of the agent names a process instead of a session.
	SessionID *string `json:"sessionId,omitempty"`
	// Host is the machine on which it runs; absent for this one.
	Host string `json:"host,omitempty"`
}
