package codex

import (
	"errors"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// status is the status of the home's one thread, after its record and claims are correlated.
func (w *testHome) status() discover.Status {
	w.t.Helper()
	homes := []discover.Home{{Dir: w.home}}
	entries, err := New().Entries(w.t.Context(), homes, discover.EntryFilter{})
	var records []discover.Record
	for r, failed := range New().Read(w.t.Context(), entries, discover.ReadOptions{}) {
		records, err = append(records, r), errors.Join(err, failed)
	}
	sessions := discover.Correlate(proc.NewFakeTable(w.facts...), w.claims(), records)
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
