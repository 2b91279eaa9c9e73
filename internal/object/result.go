package object

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

// StoredResult is the JSON object of one session that rm, archive or unarchive was given.
type StoredResult struct {
	// Host is the machine of the session; absent for this one.
	Host    string  `json:"host,omitempty"`
	ID      *string `json:"id"`
	Adapter string  `json:"adapter"`
	// Action is rm, archive or unarchive; Result what became of it.
	Action string `json:"action"`
	Result string `json:"result"`
	// Message says why it was refused, is not supported or failed.
	Message string `json:"message,omitempty"`
	// Command is the agent's own command, which was run or would be.
	Command []string `json:"command,omitempty"`
	// Session is the session as it is now; absent if it is gone, or nothing is done to it.
	Session *Session `json:"session,omitempty"`
}

// SendResult is the JSON object of a message that an agent has accepted.
type SendResult struct {
	// Result is delivered, accepted, lost, dropped or unknown.
	Result string `json:"result"`
	// Refusal is what is known of a message that is not delivered.
	Refusal string  `json:"refusal,omitempty"`
	Session Session `json:"session"`
	// Message is the message as the transcript has it.
	Message *Message `json:"message,omitempty"`
}

// LaunchResult is the JSON object of one launch of a group.
type LaunchResult struct {
	// Host is the machine of the session; absent for this one.
	Host string `json:"host,omitempty"`
	// Name identifies the launch within its group.
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Group   string `json:"group"`
	// Branch and CWD describe the worktree that was created for the launch.
	Branch string `json:"branch,omitempty"`
	CWD    string `json:"cwd,omitempty"`
	// Session is absent if no session was proven; Error says why.
	Session *Session `json:"session,omitempty"`
	Error   string   `json:"error,omitempty"`
	// Answer is the answer of the session, as in [Session].
	Answer string `json:"answer,omitempty"`
}
