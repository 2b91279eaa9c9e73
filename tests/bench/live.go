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

// What a list of what lives may take: beside liveOthers processes liveLimit milliseconds, and with any store liveSpread of
// what it takes with the smallest; beside liveMany processes livePart of the time of ps.
const (
	liveOthers = 500
	liveLimit  = 15
	liveSpread = 1.2
	liveMany   = 2000
	livePart   = 0.25
)

// measureLive times and counts a list of sessions of all agents, which live in homes of their own, with one store after
// the other as the caller's home; then, beside more processes, as ps does.
func measureLive(w io.Writer, b binaries, o options, work, stores string) error {
	if o.processes > liveOthers {
		return fmt.Errorf("-live: its bars are for %d other processes, not for %d", liveOthers, o.processes)
	}
	live, err := startLive(work, filepath.Join(work, "live"))
	if err != nil {
		return err
	}
	if err := crowd(o.processes, liveOthers); err != nil {
		return err
	}
	few := make([]*job, len(o.sizes))
	calls := make([]int, len(o.sizes))
	for i, n := range o.sizes {
		made := generate.Defaults()
		made.Sessions, made.Only = n, o.only
		home, _, err := generate.Cached(stores, made)
		if err != nil {
			return err
		}
		traced, err := live.listed(b.agentctl, home)
		if err != nil {
			return err
		}
		calls[i] = onFiles(traced)
		fmt.Fprintf(w, "%d sessions: %d calls on files\n", n, calls[i])
		few[i] = &job{name: listLive, sessions: n, argv: []string{b.agentctl, "list"}, home: home}
	}
	measure(o.rounds, few)
	if err := crowd(liveOthers, liveMany); err != nil {
		return err
	}
	most := slices.MaxFunc(few, func(a, b *job) int { return a.sessions - b.sessions })
	many := []*job{
		{name: ps, argv: psArgs()},
		{name: listMany, sessions: most.sessions, argv: most.argv, home: most.home, yardstick: ps},
	}
	measure(o.rounds, many)
	_, err = live.listed(b.agentctl, most.home) // they have lived all the time
	if err = errors.Join(err, live.stop(), printTable(w, slices.Concat(few, many))); err != nil {
		return err
	}
	if missed := printBars(w, liveBars(few, many, calls)); missed > 0 {
		return fmt.Errorf("%d bars not met", missed)
	}
	return nil
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

// liveBars are those of the same list with each store and beside ps; calls are those on files with each store.
func liveBars(few, many []*job, calls []int) []bar {
	by := func(a, b *job) int { return a.sessions - b.sessions }
	least, most := slices.MinFunc(few, by), slices.MaxFunc(few, by)
	out := []bar{absolute(fmt.Sprintf("list, %d live, ms with %d sessions", players, most.sessions), most, liveLimit)}
	for _, j := range few {
		if j != least {
			out = append(out, bar{
				what:     fmt.Sprintf("list, %d live: time with %d sessions ÷ with %d", players, j.sessions, least.sessions),
				measured: turnwise(j, least), limit: liveSpread, known: j.failure == "" && least.failure == "",
			})
		}
	}
	return append(out,
		bar{what: "list: calls on files, the most − the least", measured: float64(slices.Max(calls) - slices.Min(calls)), known: true},
		ratio(fmt.Sprintf("list ÷ ps, %d other processes", liveMany), many[1], many[0], livePart))
}

// turnwise is how many times as long as another job of the same turns one takes: the median of the turns' own ratios, so
// that what else goes on in a turn is the same for both.
func turnwise(j, other *job) float64 {
	ratios := make([]float64, len(j.times))
	for i, took := range j.times {
		ratios[i] = float64(took) / float64(other.times[i])
	}
	return median(ratios)
}
