package output

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
