package output

import "agentctl/discover/watch"

// Event is the JSON contract of what has happened to a session: a line of events, and what --webhook posts.
type Event struct {
	Type    string `json:"type"`
	Time    string `json:"time"`
	Adapter string `json:"adapter"`
	// SessionID is the session's own, and Timestamp the time, where readers of the older tool look for them.
	SessionID *string `json:"sessionId,omitempty"`
	Timestamp string  `json:"timestamp"`
	Session   Session `json:"session"`
}

// NewEvent puts an event into the contract's words.
func NewEvent(e watch.Event) Event {
	s, time := NewSession(e.Session), Timestamp(e.Time)
	return Event{string(e.Type), time, s.Adapter, s.ID, time, s}
}
