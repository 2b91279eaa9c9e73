package output

// SendResult is the JSON object of a message that an agent has accepted.
type SendResult struct {
	// Result is delivered, accepted, lost or unknown.
	Result string `json:"result"`
	// Held says why the agent has not given the message to the session yet.
	Held    string  `json:"held,omitempty"`
	Session Session `json:"session"`
	// Message is the message as the transcript has it.
	Message *Message `json:"message,omitempty"`
}
