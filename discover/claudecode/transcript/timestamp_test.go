package transcript

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzTimestamp(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"timestamp":"2026-01-01T00:00:00.000Z"},"timestamp":"2027-01-01T00:00:00.000Z","x":{}}`))
	f.Add([]byte(`{"type":"file-history-snapshot","snapshot":{"timestamp":"2026-01-01T00:00:00.000Z"},"isSnapshotUpdate":false}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Count(line, []byte(`"timestamp"`)) > 1 || bytes.ContainsAny(line, "\\\n") || !json.Valid(line) {
			_ = timestampOf(line) // of two in one object, or of escaped keys, either may count
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(line, &members) != nil || len(members) == 0 {
			return
		}
		if want := string(members["timestamp"]); want != "" {
			if got := timestampOf(line); !bytes.HasPrefix(got, []byte(want)) {
				t.Errorf("%s, not %.40s: %s", want, got, line)
			}
		}
	})
}
