package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// bar is a limit on something measured.
type bar struct {
	what            string
	measured, limit float64
	// goal: to be reached later; missing it is no failure.
	goal bool
	// known: the measurement was made.
	known bool
}

func (b bar) met() bool { return b.known && b.measured <= b.limit }

// bars compares what was measured on the smallest and the largest store with what is asked for.
func bars(jobs []*job, sizes []int) []bar {
	n, few := slices.Max(sizes), slices.Min(sizes)
	all, one := find(jobs, listAll, n), find(jobs, live, n)
	out := []bar{
		ratio("list: time with the largest store ÷ with the smallest", one, find(jobs, live, few), 1.2),
		counted("list: system calls with the largest store ÷ with the smallest", one.syscalls, find(jobs, live, few).syscalls, 1.2, one),
		ratio("guard ÷ list", find(jobs, guard, n), one, 1.5),
		counted("guard: system calls with the largest store ÷ with the smallest", find(jobs, guard, n).syscalls, find(jobs, guard, few).syscalls, 1.2, find(jobs, guard, n)),
		ratio("list -a --since all ÷ find", all, find(jobs, findTree, n), 4),
		counted("list -a --since all: system calls a session", all.syscalls, n, 12, all),
		counted("list -a --since all: peak memory, MB", int(all.rss), 1e6, 60, all),
	}
	for _, agent := range []string{"claude-code", "codex", "opencode"} {
		if j := find(jobs, status+agent, n); j != nil {
			out = append(out, ratio("status of a full ID ÷ version: "+agent, j, find(jobs, version, 0), 3))
		}
	}
	goals := []bar{
		ratio("version ÷ hello world", find(jobs, version, 0), find(jobs, hello, 0), 2),
		ratio("list -a --since all ÷ find", all, find(jobs, findTree, n), 2.5),
		counted("list -a --since all: system calls a session", all.syscalls, n, 8, all),
		counted("list -a --since all: peak memory, MB", int(all.rss), 1e6, 40, all),
		ratio("list -a --since all -n 20 ÷ find", find(jobs, newest, n), find(jobs, findTree, n), 1),
		ratio("list -a of seven days ÷ find", find(jobs, week, n), find(jobs, findTree, n), 1.5),
		ratio("list -a --since all --tokens ÷ wc -l", find(jobs, tokens, n), find(jobs, wcLines, n), 1),
		absolute("list, ms", one, 15),
		absolute("guard, ms", find(jobs, guard, n), 30),
	}
	if rg := find(jobs, search, n); rg != nil {
		goals = append(goals, ratio("list -a --since all --tokens ÷ rg -c", find(jobs, tokens, n), rg, 2))
	}
	for _, agent := range []string{"claude-code", "codex", "opencode"} {
		for _, call := range []struct{ what, name string }{
			{"status of a full ID", status}, {"status of twelve characters", prefix}, {"peek of a full ID", peek},
		} {
			if j := find(jobs, call.name+agent, n); j != nil {
				goals = append(goals, absolute(call.what+", ms: "+agent, j, 10))
			}
		}
	}
	for _, g := range goals {
		g.goal = true
		out = append(out, g)
	}
	return out
}

func ratio(what string, a, b *job, limit float64) bar {
	return bar{
		what: what, measured: a.over(b), limit: limit,
		known: a.failure == "" && b.failure == "",
	}
}

func absolute(what string, j *job, limit float64) bar {
	return bar{what: what, measured: float64(j.median()) / float64(time.Millisecond), limit: limit, known: j.failure == ""}
}

func counted(what string, a, b int, limit float64, j *job) bar {
	return bar{what: what, measured: float64(a) / float64(b), limit: limit, known: j.failure == "" && j.syscalls > 0}
}

// printBars returns how many bars, goals aside, are missed.
func printBars(w io.Writer, list []bar) (missed int) {
	fmt.Fprintln(w)
	for _, b := range list {
		kind, verdict := "bar ", "met"
		if b.goal {
			kind = "goal"
		}
		switch {
		case !b.known:
			verdict = "NOT MEASURED"
		case !b.met():
			verdict = "not met"
		}
		if !b.goal && !b.met() {
			missed++
		}
		fmt.Fprintf(w, "%s  %-62s %8.2f  ≤ %5.2f  %s\n", kind, b.what, b.measured, b.limit, verdict)
	}
	return missed
}
