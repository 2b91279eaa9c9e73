package codex

import (
	"encoding/json"
	"testing"

	"agentctl/discover"
)

// A turn began when it was first written of, whatever the process has noted before: settings are written by a resume
// that asks nothing.
func TestBegan(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing asked":      {[]string{stamp(settingsLine, "10")}, ""},
		"in progress":        {[]string{stamp(startedLine, "10"), stamp(askedLine, "12")}, "10"},
		"over":               {[]string{stamp(startedLine, "10"), stamp(contextLine, "11"), stamp(completeLine, "15")}, "11"},
		"resumed, not asked": {[]string{stamp(startedLine, "10"), stamp(contextLine, "11"), stamp(completeLine, "15"), stamp(settingsLine, "30")}, "11"},
		"dangling":           {[]string{stamp(startedLine, "10"), stamp(contextLine, "11"), stamp(settingsLine, "30")}, "11"},
		"asked again":        {[]string{stamp(startedLine, "10"), stamp(contextLine, "11"), stamp(settingsLine, "30"), stamp(startedLine, "31")}, "31"},
	} {
		text, err := parse(t, rollout(append([]string{metaLine}, test.lines...)...), someID)
		var r discover.Record
		if err != nil || json.Unmarshal([]byte(text), &r) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if !r.Turn.Began.IsZero() {
			got = r.Turn.Began.Format("05")
		}
		if got != test.want {
			t.Errorf("%s: began at second %q, want %q", name, got, test.want)
		}
	}
}

// stamp is a line written at that second.
func stamp(line, second string) string {
	const prefix = `{"timestamp":"2026-11-20T19:00:`
	return prefix + second + line[len(prefix)+len("00"):]
}
