package transcript

import (
	"bytes"
	"time"

	"agentctl/discover/native/jsonl"
)

// hasNoTimestamp reports whether a note of this kind never has a time (SEEN 2.1.70–2.1.330): there is none to search it for. They
// are those that blocks of notes mostly consist of.
func hasNoTimestamp(kind []byte) bool {
	switch string(kind) {
	case "last-prompt", "custom-title", "ai-title", "agent-name", "mode", "permission-mode", "atis-latch", "cost-state":
		return true
	}
	return false
}

// TimeOf is the time of a record.
func TimeOf(raw []byte) time.Time { return timestampOf(raw).Time() }

// timestampOf finds where the time of a record stands: that of its envelope, or of the snapshot that a file-history-snapshot
// consists of. Others may stand in what the record is about: a tool's result, which follows the envelope's time, is
// whatever the tool gave.
func timestampOf(raw []byte) jsonl.Value {
	if stamp := timestampNearEnd(raw); stamp != nil {
		return stamp
	}
	return timestampFromStart(raw)
}

// timestampFromStart finds it wherever it stands.
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

// timestampNearEnd finds the time where nothing but the outermost object ends behind it, as it mostly is; nil elsewhere. It goes by the
// letter that a time ends with, which stands for UTC and is rare. Keys inside of strings are escaped.
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

// isPrompt tells a prompt from other user records by what follows its time: only prompts have the permission mode that they
// were given in, and have it there (SEEN 2.1.75–2.1.330; what is typed after a slash may have none).
func isPrompt(stamp jsonl.Value) bool {
	const form, key = `"2026-11-20T19:09:28.087Z"`, `,"permissionMode":"`
	return len(stamp) > len(form)+len(key) && string(stamp[len(form):len(form)+len(key)]) == key
}
