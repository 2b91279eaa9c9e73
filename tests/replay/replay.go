// Package replay is a reader of events that believes each of them: what it knows in the end is to be what list says.
package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Session is what list and events have in common, as far as it matters here.
type Session struct {
	ID         *string
	Adapter    string
	Status     string
	Outcome    string
	WaitingFor string
	PID        int
	// The times that the agent itself states.
	StartedAt, LastActivityAt time.Time
}

// key tells sessions apart: by the ID, or where there is none by the process.
func (s Session) key() string {
	if s.ID == nil {
		return fmt.Sprintf("%s pid:%d", s.Adapter, s.PID)
	}
	return s.Adapter + " " + *s.ID
}

func (s Session) state() string {
	return strings.Join(strings.Fields(fmt.Sprint(s.Status, " ", s.Outcome, " ", s.WaitingFor, " ", s.PID)), " ")
}

// Event is a line of events.
type Event struct {
	Type    string
	Time    time.Time
	Session Session
}

// Read takes the lines of a stream apart.
func Read(stream []byte) ([]Event, error) {
	var out []Event
	for line := range bytes.Lines(stream) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		out = append(out, e)
	}
	return out, nil
}

// Replay returns the state of each session after the events. The error says which of them break the rules: what was not
// there starts, a type goes with its status, and what has stopped is told so once.
func Replay(events []Event) (map[string]string, error) {
	now, last := map[string]string{}, map[string]string{}
	var wrong []string
	for _, e := range events {
		key := e.Session.key()
		unnamed := fmt.Sprintf("%s pid:%d", e.Session.Adapter, e.Session.PID)
		replaced := false
		if e.Session.ID != nil {
			_, replaced = now[unnamed]
			delete(now, unnamed)
		}
		_, known := now[key]
		switch {
		case !known && !replaced && e.Type != "session.started":
			wrong = append(wrong, fmt.Sprintf("%s of %s, which has not started", e.Type, key))
		case last[key] == "session.stopped" && e.Type != "session.started" && e.Type != "session.stopped":
			wrong = append(wrong, fmt.Sprintf("%s of %s, which has stopped", e.Type, key))
		case last[key] == "session.stopped" && e.Type == "session.stopped" && now[key] == e.Session.state():
			wrong = append(wrong, key+" has stopped twice")
		case !slices.Contains(statuses(e.Type), e.Session.Status):
			wrong = append(wrong, fmt.Sprintf("%s of %s, which is %s", e.Type, key, e.Session.Status))
		}
		now[key], last[key] = e.Session.state(), e.Type
		if e.Type == "session.stopped" && e.Session.ID == nil {
			delete(now, key)
			delete(last, key)
		}
	}
	if len(wrong) > 0 {
		return now, fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return now, nil
}

// statuses are those that go with a type of event.
func statuses(eventType string) []string {
	switch eventType {
	case "session.running":
		return []string{"running", "unknown"}
	case "session.error":
		return []string{"idle", "stopped"}
	case "session.started":
		return []string{"running", "waiting", "idle", "unknown", "stopped"}
	}
	return []string{strings.TrimPrefix(eventType, "session.")}
}

// nowhere is the state of a session that has stopped without having stored anything: list does not have it any more.
const nowhere = "stopped unknown 0"

// Differs returns what list --json says otherwise than the states, nil if nothing.
func Differs(states map[string]string, list []byte) ([]string, error) {
	var sessions []Session
	if err := json.Unmarshal(list, &sessions); err != nil {
		return nil, err
	}
	listed := map[string]string{}
	for _, s := range sessions {
		listed[s.key()] = s.state()
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(listed)) {
		if states[key] != listed[key] {
			out = append(out, fmt.Sprintf("%s is %q by the events, %q by list", key, states[key], listed[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(states)) {
		if _, ok := listed[key]; !ok && states[key] != nowhere {
			out = append(out, fmt.Sprintf("%s is %q by the events, list does not have it", key, states[key]))
		}
	}
	return out, nil
}
