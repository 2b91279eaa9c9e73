package output

// StopResult is the JSON object of one session that stop was asked to end.
type StopResult struct {
	// Host is the machine of the session; absent for this one.
	Host string  `json:"host,omitempty"`
	ID   *string `json:"id"`
	// PID is a process that ran it, and StatusBefore its status, before it was stopped.
	PID          int      `json:"pid,omitempty"`
	StatusBefore string   `json:"statusBefore,omitempty"`
	Adapter      string   `json:"adapter"`
	Result       string   `json:"result"`
	Message      string   `json:"message,omitempty"`
	Session      *Session `json:"session,omitempty"`
	// Request is accepted, unanswered or failed; "" if the agent was not asked to end the session.
	Request   string   `json:"request,omitempty"`
	Signalled []Signal `json:"signalled"`
	Survived  []int    `json:"survived"`
	// LeftBehind are the pids of orphans of an earlier process of the session.
	LeftBehind []int `json:"leftBehind,omitempty"`
}

// Signal is a signal that was sent.
type Signal struct {
	PID    int    `json:"pid"`
	Signal string `json:"signal"`
	Role   string `json:"role"`
}
