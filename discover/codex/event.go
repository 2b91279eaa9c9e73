package codex

import (
	"bytes"
	"time"

	"agentctl/discover/native"
)

// event is one line of a rollout: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}.
type event struct {
	at native.Value
	// kind is the line's type; name the payload's own type, where it has one ("event_msg", "response_item").
	kind, name []byte
	payload    native.Object
}

// peek reads a line as far as its payload's type, which costs the same for a line of any length. What it returns is
// only what the line claims to be: whole tells whether it is.
func peek(line []byte) (event, bool) {
	var e event
	for key, value := range native.Object(line).Members() {
		switch string(key) {
		case "timestamp":
			e.at = value
		case "type":
			e.kind = word(value)
		case "payload":
			e.payload = native.Object(value)
		}
		if e.payload != nil && e.kind != nil {
			break
		}
	}
	e.name = e.nameOf()
	return e, e.kind != nil && e.payload != nil
}

// nameOf finds the payload's own type. Codex writes it first; should another writer not, it is looked for, where the
// kind says that there is one.
func (e *event) nameOf() []byte {
	for key, value := range e.payload.Members() {
		if string(key) == "type" {
			return word(value)
		}
		break
	}
	if kind := string(e.kind); kind == "event_msg" || kind == "response_item" {
		return word(e.get("type"))
	}
	return nil
}

// word is a short string value as it stands, without its quotes.
func word(v native.Value) []byte {
	const longest = 64
	v = v[:min(len(v), longest)]
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	n := bytes.IndexByte(v[1:], '"')
	if n < 0 {
		return nil
	}
	return v[1 : 1+n]
}

// whole reports whether the line is one whole record – not cut, torn or run into another – and bounds its payload.
func (e *event) whole(line []byte) bool {
	raw := native.Value(e.payload).Raw()
	last := string(bytes.TrimSpace(e.payload[len(raw):])) == "}" // as mostly: the line needs no second look
	e.payload = raw
	return e.payload.Complete() && (last || native.Object(line).Complete())
}

// get returns a member of the payload, nil if it has none of that name.
func (e *event) get(name string) native.Value { return e.payload.Get(name) }

// time is when the record was written, UTC; zero if it does not say.
func (e *event) time() time.Time { return e.at.Time() }

// foreign reports whether the record speaks of another thread: a review's parent is given a copy of what the reviewer
// sees, under the reviewer's own thread (SEEN 0.169).
func (e *event) foreign(id string) bool {
	thread := e.get("thread_id").Text(0)
	return thread != "" && thread != id
}

// item returns the item of an event_msg/item_completed and its type ("UserMessage", "AgentMessage", …).
func (e *event) item() (item native.Object, kind string) {
	item = e.get("item").Object()
	return item, item.Get("type").Text(0)
}
