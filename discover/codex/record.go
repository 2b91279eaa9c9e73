package codex

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"agentctl/discover/native/jsonl"
)

// rolloutRecord is one line of a rollout: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}. There are two dialects: legacy files have events
// such as user_message, paginated files have item_completed with an item. The kinds are the same for both.
type rolloutRecord struct {
	Kind      recordKind
	timestamp jsonl.Value
	payload   jsonl.Object
	// body is what the record is about: the payload or its item.
	body jsonl.Object
	// item: body is an item, which may have its own ID.
	item bool
}

// decodeRecord reads a line of this thread's rollout as far as needed to know its kind. That costs the same for a line of any length, and
// believes what the line claims to be: [rolloutRecord.Complete] reports whether it is.
func decodeRecord(line []byte, thread string) (r rolloutRecord, ok bool) {
	var envelope []byte
	for key, value := range jsonl.Object(line).Members() {
		switch string(key) {
		case "timestamp":
			r.timestamp = value
		case "type":
			envelope = shortString(value)
		case "payload":
			r.payload = jsonl.Object(value)
		}
		if r.payload != nil && envelope != nil {
			break
		}
	}
	if r.payload == nil || envelope == nil {
		return r, false
	}
	r.body = r.payload
	switch string(envelope) {
	case "session_meta":
		r.Kind = kindSessionMeta
	case "turn_context":
		r.Kind = kindTurnContext
	case "compacted":
		r.Kind = kindContextCompacted
	case "token_usage_record":
		r.Kind = r.forThread(kindTokenUsage, thread)
	case "event_msg":
		r.Kind = r.eventKind(thread)
	case "response_item":
		r.Kind = r.responseItemKind()
	}
	return r, true
}

// typeName is the payload's type. Codex writes it first.
func (r *rolloutRecord) typeName() []byte { return shortString(r.Get("type")) }

// shortString is the content of a short string without escapes.
func shortString(v jsonl.Value) []byte {
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

// Complete reports whether the line is one complete record – not cut off, torn or run into another – and limits the payload to it.
func (r *rolloutRecord) Complete(line []byte) bool {
	n := r.payload.Len(func([]byte, jsonl.Value) int { return 0 })
	rest := r.payload[n:]
	r.payload = r.payload[:n]
	last := string(bytes.TrimSpace(rest)) == "}" // the usual case: the payload is the last member
	return n > 0 && (last || jsonl.Object(line).Complete())
}

// Get returns a member of the payload, nil if there is none.
func (r *rolloutRecord) Get(name string) jsonl.Value { return r.payload.Get(name) }

// Time is when the record was written, in UTC. It is zero if the record does not say.
func (r *rolloutRecord) Time() time.Time { return r.timestamp.Time() }

// Text is the text of a message or an item, or the description of what a review is about.
func (r *rolloutRecord) Text() string {
	if r.Kind == kindReviewEntered {
		return r.body.Get("user_facing_hint").Text(0)
	}
	if content := r.body.Get("content"); content != nil {
		return joinedText(content)
	}
	return cmp.Or(r.body.Get("message").Text(0), r.body.Get("text").Text(0))
}

// joinedText is the text of all parts of a message. Images have none.
func joinedText(content jsonl.Value) string {
	var b strings.Builder
	for part := range content.Elements() {
		b.WriteString(part.Object().Get("text").Text(0))
	}
	return b.String()
}
