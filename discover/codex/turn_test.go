package codex

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/proctest"
)

// endOf reads the end of a rollout of these lines.
func endOf(t *testing.T, lines ...string) rolloutTail {
	t.Helper()
	tail, err := readTail(storage.NewMemoryFile("rollout", rollout(lines...), time.Time{}), tailLimit, someID, tailOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tail
}

// The state of the newest turn follows from the records at the end of a rollout.
func TestTurn(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  discover.Turn
	}{
		"nothing asked":        {nil, discover.Turn{State: discover.TurnNone}},
		"begun":                {[]string{startedLine, contextLine, askedLine}, discover.Turn{State: discover.TurnOpen, Prompt: "do it"}},
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
		"torn end":             {[]string{startedLine, contextLine, askedLine, completeLine[:60] + startedLine}, discover.Turn{State: discover.TurnOpen}},
		"damaged end":          {[]string{startedLine, contextLine, askedLine, strings.TrimSuffix(completeLine, "}")}, discover.Turn{}},
		"damaged, then ended":  {[]string{startedLine, contextLine, answerLine[:50], completeLine}, discover.Turn{State: discover.TurnDone}},
		"junk at the end":      {[]string{startedLine, contextLine, completeLine, "\x00\xff{}"}, discover.Turn{}},
		"other records":        {[]string{startedLine, contextLine, completeLine, "", "{}", "null", `{"type":"event_msg","payload":7}`}, discover.Turn{State: discover.TurnDone}},
	} {
		tail := endOf(t, append([]string{metaLine}, test.lines...)...)
		turn := tail.TurnAt(time.Now())
		turn.Began = time.Time{} // see TestTurnStart
		if turn.State == discover.TurnOpen && turn.Detail != "" {
			test.want.OpenCall = &discover.WaitingOn{ID: "c1", Tool: "shell"}
		}
		if !reflect.DeepEqual(turn, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, turn, test.want)
		}
	}
}

// A turn begins with its newest task_started or turn_context. Settings do not begin one: a resume writes them without a prompt.
func TestTurnStart(t *testing.T) {
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

// A result of which only the end is kept, or that is damaged, answers its call. What the agent adds to the conversation answers none.
func TestResultsInAnOpenTurn(t *testing.T) {
	const added = `{"timestamp":"2026-11-20T19:00:06Z","type":"response_item","payload":{"type":"function_call_output","name":"goal_objective","output":"x"}}`
	long := strings.Replace(outputLine, `"call_id":"c1"`, `"call_id":"c1","output":"`+strings.Repeat("x", storage.MaxLine)+`"`, 1)
	second := strings.Replace(callLine, "shell", "other", 1)
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"long":                    {[]string{callLine, long}, ""},
		"long, then a call again": {[]string{callLine, long, second}, "tool: other"},
		"damaged":                 {[]string{callLine, outputLine[:len(outputLine)-2], saidLine}, ""},
		"an addition":             {[]string{callLine, added}, "tool: shell"},
		"two of one ID":           {[]string{callLine, second, outputLine}, "tool: shell"},
	} {
		tail := endOf(t, append([]string{metaLine, startedLine, contextLine, askedLine}, test.lines...)...)
		if turn := tail.TurnAt(time.Now()); turn.State != discover.TurnOpen || turn.Detail != test.want {
			t.Errorf("%s: %+v, want %q", name, turn, test.want)
		}
	}
}

// status is the status of the home's one thread, after its record and claims are correlated.
func (w *testHome) status() discover.Status {
	w.t.Helper()
	homes := []discover.Home{{Dir: w.home}}
	entries, err := New().Entries(w.t.Context(), homes, discover.EntryFilter{})
	var records []discover.Record
	for r, failed := range New().Read(w.t.Context(), entries, discover.ReadOptions{}) {
		records, err = append(records, r), errors.Join(err, failed)
	}
	sessions := discover.Correlate(proctest.NewTable(w.facts...), w.claims(), records)
	if err != nil || len(sessions) != 1 {
		w.t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	return sessions[0].Status
}

// An exec is active while it lives, also while its rollout does not contain its turn yet. A turn that another process left in the rollout
// has ended, whatever its records say.
func TestTurnOwner(t *testing.T) {
	injected := `{"timestamp":"2026-11-20T19:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`
	execLine := strings.Replace(startedLine, `"task_started"`, `"task_started","turn_attribution":{"turn_trigger":"exec"}`, 1)
	turn := []string{metaLine, startedLine, contextLine, askedLine, answerLine}
	ofExec := []string{metaLine, execLine, contextLine, askedLine, answerLine}
	exec, again := []string{"exec"}, []string{"exec", "resume", someID}
	own, daemon := []string{"--no-daemon"}, []string{"app-server", "--listen", "unix://", "--managed-daemon"}
	for name, test := range map[string]struct {
		args    []string
		lines   []string
		started string
		want    discover.Status
	}{
		"an exec, and the session alone":         {exec, []string{metaLine}, "19:00:00", discover.Running},
		"an exec, and what comes before turns":   {exec, []string{metaLine, injected, settingsLine}, "19:00:00", discover.Running},
		"an exec, and its turn":                  {exec, ofExec, "19:00:00", discover.Running},
		"an exec whose turn is over":             {exec, append(ofExec, completeLine), "19:00:00", discover.Idle},
		"an exec after a turn that is over":      {again, append(turn, completeLine), "20:00:00", discover.Running},
		"an exec after one that was cut":         {again, append(turn, abortedLine, settingsLine), "20:00:00", discover.Running},
		"an exec after one that failed":          {again, append(turn, failedLine), "20:00:00", discover.Running},
		"an exec after one that was left":        {again, turn, "20:00:00", discover.Running},
		"a TUI that nothing was asked of":        {own, []string{metaLine}, "19:00:00", discover.Idle},
		"a TUI, and its turn":                    {own, turn, "19:00:00", discover.Running},
		"a TUI that came later":                  {own, turn, "20:00:00", discover.Idle},
		"a TUI that resumed an exec's at once":   {own, ofExec, "19:00:00", discover.Idle},
		"a daemon, and its turn":                 {daemon, turn, "19:00:00", discover.Running},
		"a daemon that came later":               {daemon, turn, "20:00:00", discover.Idle},
		"a daemon that was there before an exec": {daemon, ofExec, "19:00:00", discover.Idle},
		"… and was asked to go on":               {daemon, append(ofExec, stamp(startedLine, "30")), "19:00:00", discover.Running},
	} {
		w := newTestHome(t)
		path := w.file("sessions/2026/11/20/rollout-2026-11-20T19-00-00-"+someID+".jsonl", string(rollout(test.lines...)))
		p := w.process(8, 1, npmExe, test.args, writing(path))
		p.Started, _ = time.Parse(time.RFC3339, "2026-11-20T"+test.started+"Z")
		if got := w.status(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
