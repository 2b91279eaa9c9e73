package transcript

import (
	"bytes"
	"time"

	"agentctl/discover/native/jsonl"
)

// hasNoTimestamp reports whether metadata of this kind never has a time (SEEN 2.1.70–2.1.330), so that a search would be in
// vain. Most metadata is of these kinds.
func hasNoTimestamp(kind []byte) bool {
	switch string(kind) {
	case "last-prompt", "custom-title", "ai-title", "agent-name", "mode", "permission-mode", "atis-latch", "cost-state":
		return true
	}
	return false
}

// TimeOf returns the time of a record; zero if it has none.
func TimeOf(raw []byte) time.Time { return timestampOf(raw).Time() }

// timestampOf returns the time of a record: that of its envelope, or that of the snapshot in a file-history-snapshot. Times
// inside of other members, such as a tool's result, may be anything.
func timestampOf(raw []byte) jsonl.Value {
	if stamp := timestampNearEnd(raw); stamp != nil {
		return stamp
	}
	return timestampFromStart(raw)
}

// timestampFromStart finds the time wherever it is.
func timestampFromStart(raw []byte) (stamp jsonl.Value) {
	for key, v := range jsonl.Object(raw).Members() {
		switch string(key) {
		case "timestamp":
			return v
		case "snapshot":
			stamp = v.Object().Get("timestamp")
		}
	}
	return stamp
}

// timestampNearEnd finds the time if it is near the end, as in most records, and no other object ends behind it; else it
// returns nil. It searches for the letter that a time ends with, Z for UTC, which is rare. In strings, the quotes of keys
// are escaped.
func timestampNearEnd(raw []byte) jsonl.Value {
	const near, key, form = 512, `"timestamp":`, `"2026-11-20T19:09:28.087Z`
	end := raw[max(0, len(raw)-near):]
	for at := 0; ; {
		i := bytes.IndexByte(end[at:], 'Z')
		if i < 0 {
			return nil
		}
		at += i + 1
		from := at - len(form)
		if from >= len(key) && string(end[from-len(key):from]) == key && bytes.IndexByte(end[at:], '}') == len(end)-at-1 {
			return end[from:]
		}
	}
}

// isPrompt reports, by what follows its time, whether a user record is a prompt: only prompts have a permission mode, right
// behind the time (SEEN 2.1.75–2.1.330; slash commands may have none).
func isPrompt(stamp jsonl.Value) bool {
	const form, key = `"2026-11-20T19:09:28.087Z"`, `,"permissionMode":"`
	return len(stamp) > len(form)+len(key) && string(stamp[len(form):len(form)+len(key)]) == key
}
