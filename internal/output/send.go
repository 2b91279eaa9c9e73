package output

// SendResult is the JSON object of a message that an agent has accepted.
type SendResult struct {
	// Result is delivered, accepted, lost, dropped or unknown.
	Result string `json:"result"`
	// Refusal is what the agent says of a message that it has not given to the session.
	Refusal string  `json:"refusal,omitempty"`
	Session Session `json:"session"`
	// Message is the message as the transcript has it.
	Message *Message `json:"message,omitempty"`
}
