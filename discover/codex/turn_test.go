package codex

import (
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// endOf reads the end of a rollout of these lines.
func endOf(t *testing.T, lines ...string) rolloutTail {
	t.Helper()
	tail, err := readTail(fsread.NewMemoryFile("rollout", rollout(lines...), time.Time{}), tailLimit, someID, tailOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tail
}

// The state of the newest turn follows from the records at the end of a rollout.
func testTurn(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  discover.Turn
	}{
		"nothing asked":        {nil, discover.Turn{State: discover.TurnNone}},
		"begun":                {[]string{startedLine, contextLine, askedLine}, discover.Turn{State: discover.TurnOpen}},
		"in a tool":            {[]string{startedLine, contextLine, askedLine, callLine}, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"after a tool":         {[]string{startedLine, contextLine, askedLine, callLine, outputLine}, discover.Turn{State: discover.TurnOpen}},
		"complete":             {[]string{startedLine, contextLine, askedLine, answerLine, completeLine}, discover.Turn{State: discover.TurnDone}},
		"resumed, not asked":   {[]string{startedLine, contextLine, askedLine, completeLine, settingsLine}, discover.Turn{State: discover.TurnDone}},
		"failed":               {[]string{startedLine, contextLine, askedLine, failedLine}, discover.Turn{State: discover.TurnFailed, Error: "no key"}},
		"aborted":              {[]string{startedLine, contextLine, askedLine, abortedLine}, discover.Turn{State: discover.TurnInterrupted}},
		"error":                {[]string{startedLine, contextLine, askedLine, errorLine}, discover.Turn{State: discover.TurnFailed, Error: "gone"}},
		"end without a start":  {[]string{completeLine}, discover.Turn{State: discover.TurnDone}},
		"dangling, then again": {[]string{startedLine, askedLine, callLine, settingsLine, startedLine, contextLine, askedLine, completeLine}, discover.Turn{State: discover.TurnDone}},
		"silent failure":       {[]string{startedLine, askedLine, contextLine, silentLine}, discover.Turn{State: discover.TurnFailed, Error: noAnswerError}},
		"silent after a tool":  {[]string{startedLine, contextLine, askedLine, callLine, outputLine, silentLine}, discover.Turn{State: discover.TurnFailed, Error: noAnswerError}},
		"silent, answered":     {[]string{startedLine, contextLine, askedLine, answerLine, silentLine}, discover.Turn{State: discover.TurnDone}},
		"silent compaction":    {[]string{startedLine, compactLine, silentLine}, discover.Turn{State: discover.TurnDone}},
		"silent, with a time":  {[]string{startedLine, contextLine, askedLine, timedLine}, discover.Turn{State: discover.TurnFailed, Error: noAnswerError}},
		"timed compaction":     {[]string{startedLine, compactLine, timedLine}, discover.Turn{State: discover.TurnDone}},
		"silent, but newer":    {[]string{startedLine, contextLine, askedLine, newerLine}, discover.Turn{State: discover.TurnDone}},
		"old, answered":        {[]string{askedLine, contextLine, answerLine, saidLine}, discover.Turn{State: discover.TurnDone}},
		"old, before a call":   {[]string{askedLine, contextLine, answerLine}, discover.Turn{}},
		"old, asked":           {[]string{askedLine, contextLine}, discover.Turn{}},
		"old, in a tool":       {[]string{askedLine, contextLine, callLine}, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"review begun":         {[]string{reviewLine}, discover.Turn{State: discover.TurnOpen}},
		"torn end":             {[]string{startedLine, contextLine, askedLine, completeLine[:60] + startedLine}, discover.Turn{}},
		"damaged end":          {[]string{startedLine, contextLine, askedLine, strings.TrimSuffix(completeLine, "}")}, discover.Turn{}},
		"damaged, then ended":  {[]string{startedLine, contextLine, answerLine[:50], completeLine}, discover.Turn{State: discover.TurnDone}},
		"junk at the end":      {[]string{startedLine, contextLine, completeLine, "\x00\xff{}"}, discover.Turn{}},
		"other records":        {[]string{startedLine, contextLine, completeLine, "", "{}", "null", `{"type":"event_msg","payload":7}`}, discover.Turn{State: discover.TurnDone}},
	} {
		tail := endOf(t, append([]string{metaLine}, test.lines...)...)
		turn := tail.TurnAt(time.Now())
		turn.Began = time.Time{} // see TestTurnStart
		if turn != test.want {
			t.Errorf("%s: got %+v, want %+v", name, turn, test.want)
		}
	}
}
