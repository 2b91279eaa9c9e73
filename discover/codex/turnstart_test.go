package codex

import (
	"testing"
	"time"
)

// A turn begins with its newest task_started or turn_context. Settings do not begin one: a resume writes them without a prompt.
func testTurnStart(t *testing.T) {
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
		tail := endOf(t, append([]string{metaLine}, test.lines...)...)
		got := ""
		if began := tail.TurnAt(time.Now()).Began; !began.IsZero() {
			got = began.Format("05")
		}
		if got != test.want {
			t.Errorf("%s: began at second %q, want %q", name, got, test.want)
		}
	}
}
