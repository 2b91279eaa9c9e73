package object

import "agentctl/discover/watch"

// Event is the JSON object of a session event: one line of `events`, and the body that --webhook posts.
type Event struct {
	Type    string `json:"type"`
	Time    string `json:"time"`
	Adapter string `json:"adapter"`
	// SessionID repeats the ID of the session, and Timestamp repeats Time: agentctl-ts has them there.
	SessionID *string `json:"sessionId,omitempty"`
	Timestamp string  `json:"timestamp"`
	Session   Session `json:"session"`
}

// EventTypes are the types of events.
func EventTypes() []string {
	return []string{
		string(watch.SessionStarted), string(watch.SessionRunning), string(watch.SessionWaiting), string(watch.SessionIdle), string(watch.SessionError), string(watch.SessionStopped),
	}
}

// NewEvent converts an event to its JSON object.
func NewEvent(e watch.Event) Event {
	s, time := NewSession(e.Session), Timestamp(e.Time)
	return Event{string(e.Type), time, s.Adapter, s.ID, time, s}
}
