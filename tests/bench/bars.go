package main

import (
	"fmt"
	"io"
	"os"
)

// bar is a limit on something measured.
type bar struct {
	what            string
	measured, limit float64
	// known: the measurement was made.
	known bool
}

func (b bar) met() bool { return b.known && b.measured <= b.limit }

// agents are those of which the stores hold sessions.
func agents() []string { return []string{"claude-code", "codex", "opencode"} }

// storeBars compares what was measured with stores of few and of many sessions with the limits.
func storeBars(jobs []*job, few, many int) []bar {
	job := func(name string) *job { return find(jobs, name, many) }
	all := job(listAll)
	out := []bar{
		ratio("`version` ÷ hello world", job(version), job(hello), 2.5),
		ratio("`list`, none live: with many sessions stored ÷ with few", job(live), find(jobs, live, few), 1.2),
		ratio("`list -a --since all --json` ÷ `find -printf`", all, job(findTree), 4),
		counted("… system calls a session", float64(all.syscalls), float64(many), 10, all),
		counted("… KB read a session", float64(all.read)/1000, float64(many), 32, all),
		counted("… MB resident", float64(all.rss), 1e6, 60, all),
		ratio("`list -a --since all -n 20` ÷ `find -printf`", job(newest), job(findTree), 1),
	}
	for _, agent := range agents() {
		out = append(out,
			ratio("`status` of a full ID ÷ `version`, "+agent, job(status+agent), job(version), 5),
			ratio("`peek` of a full ID ÷ `version`, "+agent, job(peek+agent), job(version), 5))
	}
	return append(out,
		ratio("`list -a --since all --tokens` ÷ `wc -l`", job(tokens), job(wcLines), 2),
		ratio("`guard` ÷ `version`", job(guard), job(version), 4))
}

// binaryBar is that of the released binary's size.
func binaryBar(path string) (bar, error) {
	info, err := os.Stat(path)
	if err != nil {
		return bar{}, err
	}
	return bar{what: "the binary, MB", measured: float64(info.Size()) / 1e6, limit: 18, known: true}, nil
}

// ratio is how many times as long as b a may take. Either may be nil: it was not measured.
func ratio(what string, a, b *job, limit float64) bar {
	out := bar{what: what, limit: limit}
	if a != nil && b != nil && a.failure == "" && b.failure == "" {
		out.measured, out.known = a.over(b), true
	}
	return out
}

func counted(what string, a, b, limit float64, j *job) bar {
	return bar{what: what, measured: a / b, limit: limit, known: j.failure == "" && j.syscalls > 0}
}

// printBars writes a Markdown table and returns how many bars are missed.
func printBars(w io.Writer, list []bar) (missed int) {
	fmt.Fprint(w, "\n| work | measured | bar | |\n|---|---|---|---|\n")
	for _, b := range list {
		verdict := "met"
		switch {
		case !b.known:
			verdict = "NOT MEASURED"
		case !b.met():
			verdict = "NOT MET"
		}
		if !b.met() {
			missed++
		}
		fmt.Fprintf(w, "| %s | %.2f | ≤ %g | %s |\n", b.what, b.measured, b.limit, verdict)
	}
	return missed
}
