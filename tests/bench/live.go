package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"agentctl/tests/store/generate"
	"agentctl/tests/trace"
)

// A list of ten live sessions beside liveOthers processes takes liveLimit times as long as a hello world at most, and with
// any store liveSpread of what it takes with the smallest; beside liveMany processes livePart of the time of ps.
const (
	liveOthers = 500
	liveLimit  = 12
	liveSpread = 1.2
	liveMany   = 2000
	livePart   = 0.3
)

// measureLive times and counts a list of sessions of all agents, which live in homes of their own, with one store after
// the other as the caller's home; then, beside more processes, as ps does. There are idle processes already.
func measureLive(w io.Writer, b binaries, rounds, idle int, work string, stores []storage) ([]bar, error) {
	live, err := startLive(work, filepath.Join(work, "live"))
	if err != nil {
		return nil, err
	}
	if err := crowd(idle, liveOthers); err != nil {
		return nil, err
	}
	few := []*job{{name: hello, argv: []string{b.hello}}}
	var calls []int
	for _, s := range stores {
		traced, err := live.listed(b.agentctl, s.home)
		if err != nil {
			return nil, err
		}
		calls = append(calls, onFiles(traced))
		few = append(few, &job{name: listLive, sessions: len(s.sessions), argv: []string{b.agentctl, "list"}, home: s.home, yardstick: hello})
	}
	measure(rounds, few)
	if err := crowd(liveOthers, liveMany); err != nil {
		return nil, err
	}
	most := few[len(few)-1]
	many := []*job{
		{name: ps, argv: psArgs()},
		{name: listMany, sessions: most.sessions, argv: most.argv, home: most.home, yardstick: ps},
	}
	measure(rounds, many)
	_, err = live.listed(b.agentctl, most.home) // they have lived all the time
	return liveBars(few, many, calls), errors.Join(err, live.stop(), printTable(w, slices.Concat(few, many)))
}

// startLive starts players of all agents that write nothing, beside sessions of OpenCode's that do not live.
func startLive(work, home string) (*cast, error) {
	o := generate.Defaults()
	o.Sessions, o.Only = 100, "opencode"
	if _, err := generate.Store(home, o); err != nil {
		return nil, err
	}
	return startPlayers(work, home, true, "claude", "codex", "opencode")
}

// listed has agentctl list what lives, and returns the calls that took. It fails unless there are the players' sessions,
// each at work in its player's process, and no others.
func (c *cast) listed(agentctl, home string) ([]trace.Call, error) {
	j := job{argv: []string{agentctl, "list", "--json"}, home: home}
	cmd := j.command()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r, err := trace.Run(cmd)
	if err != nil {
		return nil, err
	}
	if r.Exit != 0 || stderr.Len() > 0 {
		return nil, fmt.Errorf("agentctl list: exit %d\n%s", r.Exit, stderr.String())
	}
	return r.Calls, c.check(stdout.Bytes())
}

// onFiles counts the calls that are about a file.
func onFiles(calls []trace.Call) (n int) {
	for _, call := range calls {
		if call.Path != "" {
			n++
		}
	}
	return n
}

// check compares a list in JSON with what is played.
func (c *cast) check(list []byte) error {
	type row struct {
		ID, Status string
		PID        int
	}
	var rows []row
	if err := json.Unmarshal(list, &rows); err != nil {
		return fmt.Errorf("agentctl list: %w\n%s", err, list)
	}
	for i, id := range c.ids {
		if want := (row{id, "running", c.running[i].Process.Pid}); !slices.Contains(rows, want) {
			return fmt.Errorf("agentctl list: no %+v (%s) in\n%s", want, filepath.Base(c.running[i].Path), list)
		}
	}
	if len(rows) != len(c.ids) {
		return fmt.Errorf("agentctl list: %d live, want %d:\n%s", len(rows), len(c.ids), list)
	}
	return nil
}

// liveBars are those of the same list with each store, the smallest first, and beside ps. few begins with the hello world;
// calls are those on files with each store.
func liveBars(few, many []*job, calls []int) []bar {
	least, most := few[1], few[len(few)-1]
	return []bar{
		ratio(fmt.Sprintf("`list`, %d live of %d processes ÷ hello world", players, liveOthers), most, few[0], liveLimit),
		{
			what:     fmt.Sprintf("… with %d sessions stored ÷ with %d", most.sessions, least.sessions),
			measured: turnwise(most, least), limit: liveSpread, known: most.failure == "" && least.failure == "",
		},
		{what: "… calls on files, the most − the least", measured: float64(slices.Max(calls) - slices.Min(calls)), known: true},
		ratio(fmt.Sprintf("`list` ÷ `ps`, %d processes", liveMany), many[1], many[0], livePart),
	}
}

// turnwise is how many times as long as another job of the same turns one takes: the median of the turns' own ratios, so
// that what else goes on in a turn is the same for both.
func turnwise(j, other *job) float64 {
	n := min(len(j.times), len(other.times)) // a round may time one of them more often
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = float64(j.times[i]) / float64(other.times[i])
	}
	return median(ratios)
}
