package transcript

import (
	"time"

	"agentctl/discover/native/jsonl"
)

// TimeOf returns the time of a record: that of its envelope, or that of the snapshot in a file-history-snapshot. Times inside of other
// members, such as a tool's result, may be anything. It is zero if there is none.
func TimeOf(raw []byte) time.Time {
	var stamp jsonl.Value
	for key, v := range jsonl.Object(raw).Members() {
		switch string(key) {
		case "timestamp":
			return v.Time()
		case "snapshot":
			stamp = v.Object().Get("timestamp")
		}
	}
	return stamp.Time()
}
