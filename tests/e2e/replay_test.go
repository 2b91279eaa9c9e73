package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/schema"
)

// eventCommands are the commands for streams of events.
func eventCommands() map[string]command {
	return map[string]command{
		// replays STREAM LIST: the lines are valid, and whoever believed each event of STREAM knows what LIST has, the output of list --json.
		"replays": withArgs(2, func(ts *testscript.TestScript, args []string) {
			states, err := replayEvents(ts.ReadFile(args[0]))
			ts.Check(err)
			wrong, err := differences(states, ts.ReadFile(args[1]))
			ts.Check(err)
			if len(wrong) > 0 {
				ts.Fatalf("%s", strings.Join(wrong, "\n"))
			}
		}),
	}
}

// replayed is what list and events have in common, as far as it matters here.
type replayed struct {
	ID         *string
	Adapter    string
	Status     string
	Outcome    string
	WaitingFor string
	PID        int
}

// key tells sessions apart: by the ID, or where there is none by the process.
func (s replayed) key() string {
	if s.ID == nil {
		return fmt.Sprintf("%s pid:%d", s.Adapter, s.PID)
	}
	return s.Adapter + " " + *s.ID
}

func (s replayed) state() string {
	return strings.Join(strings.Fields(fmt.Sprint(s.Status, " ", s.Outcome, " ", s.WaitingFor, " ", s.PID)), " ")
}

// replayEvents returns the state of each session after the events. The error says which of them break the rules: what was not there starts, a
// type goes with its status, and what has stopped is told so once.
func replayEvents(stream string) (map[string]string, error) {
	now, last := map[string]string{}, map[string]string{}
	var wrong []string
	for line := range strings.Lines(stream) {
		var e struct {
			Type    string
			Session replayed
		}
		if err := errors.Join(schema.Check("event", line), json.Unmarshal([]byte(line), &e)); err != nil {
			return nil, err
		}
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
		case !slices.Contains(statusesOf(e.Type), e.Session.Status):
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

// statusesOf are those that go with a type of event.
func statusesOf(eventType string) []string {
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

// nothingStored is the state of a session that has stopped without having stored anything: list does not have it any more.
const nothingStored = "stopped unknown 0"

// differences returns what list --json says otherwise than the states, nil if nothing.
func differences(states map[string]string, list string) ([]string, error) {
	var sessions []replayed
	if err := json.Unmarshal([]byte(list), &sessions); err != nil {
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
		if _, ok := listed[key]; !ok && states[key] != nothingStored {
			out = append(out, fmt.Sprintf("%s is %q by the events, list does not have it", key, states[key]))
		}
	}
	return out, nil
}
