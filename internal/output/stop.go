package output

// StopResult is what became of a session that was to be stopped: one element of what stop --json prints.
type StopResult struct {
	ID        *string  `json:"id"`
	Adapter   string   `json:"adapter"`
	Result    string   `json:"result"`
	Message   string   `json:"message,omitempty"`
	Session   *Session `json:"session,omitempty"`
	Signalled []Signal `json:"signalled"`
	Survived  []int    `json:"survived"`
	// LeftBehind are pids: what an earlier process of the session has left behind.
	LeftBehind []int `json:"leftBehind,omitempty"`
}

// Signal is a signal that was sent.
type Signal struct {
	PID    int    `json:"pid"`
	Signal string `json:"signal"`
	Role   string `json:"role"`
}
