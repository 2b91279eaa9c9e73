package codex

import (
	"time"

	"agentctl/discover/native"
)

// event is one line of a rollout: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}. In this package "kind" is the
// line's type, and "name" the payload's own type where it has one ("event_msg" and "response_item").
type event struct {
	at      native.Value
	kind    string
	name    string
	payload native.Object
}

// parseEvent reads a line. It is not ok for whatever is not one whole record: cut, torn, run into another, or no JSON.
func parseEvent(line []byte) (event, bool) {
	var e event
	if !native.Object(line).Complete() {
		return e, false
	}
	for key, value := range native.Object(line).Members() {
		switch string(key) {
		case "timestamp":
			e.at = value
		case "type":
			e.kind = value.Text(0)
		case "payload":
			e.payload = native.Object(value.Raw())
		}
	}
	if e.kind == "" || !e.payload.Complete() {
		return event{}, false
	}
	if e.kind == "event_msg" || e.kind == "response_item" {
		e.name = e.get("type").Text(0)
	}
	return e, true
}

// get returns a member of the payload, nil if it has none of that name.
func (e event) get(name string) native.Value { return get(e.payload, name) }

func get(o native.Object, name string) native.Value {
	for key, value := range o.Members() {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// time is when the record was written, UTC; zero if it does not say.
func (e event) time() time.Time { return parseTime(e.at) }

func parseTime(v native.Value) time.Time {
	t, err := time.Parse(time.RFC3339Nano, v.Text(64))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// foreign reports whether the record speaks of another thread: a review's parent is given a copy of what the reviewer
// sees, under the reviewer's own thread (SEEN 0.169).
func (e event) foreign(id string) bool {
	thread := e.get("thread_id").Text(0)
	return thread != "" && thread != id
}

// item returns the item of an event_msg/item_completed and its type ("UserMessage", "AgentMessage", …).
func (e event) item() (native.Object, string) {
	if e.name != "item_completed" {
		return nil, ""
	}
	item := e.get("item").Object()
	return item, get(item, "type").Text(0)
}
