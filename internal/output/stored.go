package output

// StoredResult is the JSON object of one session that rm, archive or unarchive was given.
type StoredResult struct {
	ID      *string `json:"id"`
	Adapter string  `json:"adapter"`
	// Action is rm, archive or unarchive; Result what became of it.
	Action string `json:"action"`
	Result string `json:"result"`
	// Message says why it was refused, is not supported or failed.
	Message string `json:"message,omitempty"`
	// Command is the agent's own command, which was run or would be.
	Command []string `json:"command,omitempty"`
	// Session is the session as it is now; absent if it is gone or was not touched.
	Session *Session `json:"session,omitempty"`
}
