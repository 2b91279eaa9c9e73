package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"agentctl/internal/cli"
	"agentctl/tests/debian"
	"agentctl/tests/store/generate"
)

// work is a row of the table: what is measured, and the bar.
type work struct {
	what  string
	limit float64
	// job ÷ yardstick is measured, of the medians of as many turns of both.
	job, yardstick job
	jobs, beside   []time.Duration
	// value is what was measured otherwise, if there is no job.
	value   float64
	failure string
}

// job is a command line with its home.
type job struct {
	home string
	argv []string
	exit int // the exit code of a success
}

func (j job) command() *exec.Cmd {
	cmd := exec.Command(j.argv[0], j.argv[1:]...)
	// Nothing of this machine's user: the store is the home, and its agents the only ones.
	cmd.Env = []string{"HOME=" + j.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TERM=xterm-256color"}
	return cmd
}

// time runs the command, and returns how long that took; its output goes nowhere.
func (j job) time() (time.Duration, error) {
	cmd := j.command()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == j.exit {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", j.argv, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return took, err
}

// measure times all, in turns, each job directly after its yardstick.
func measure(rounds int, list []*work) {
	for range rounds {
		for _, w := range list {
			a, err := w.yardstick.time()
			b, more := w.job.time()
			w.beside, w.jobs = append(w.beside, a), append(w.jobs, b)
			if err = errors.Join(err, more); err != nil && w.failure == "" {
				w.failure = err.Error()
			}
		}
	}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// measured is the ratio, or the value.
func (w *work) measured() float64 {
	if len(w.jobs) > 0 {
		return float64(median(w.jobs)) / float64(median(w.beside))
	}
	return w.value
}

// printTable writes a Markdown table and returns how many bars are missed.
func printTable(out io.Writer, list []*work) (missed int) {
	fmt.Fprint(out, "| work | ms | measured | bar | |\n|---|---|---|---|---|\n")
	for _, w := range list {
		verdict, took := "met", ""
		switch {
		case w.failure != "":
			verdict = "FAILED: " + w.failure
		case w.measured() > w.limit:
			verdict = "NOT MET"
		}
		if verdict != "met" {
			missed++
		}
		if len(w.jobs) > 0 {
			took = fmt.Sprintf("%.1f", median(w.jobs).Seconds()*1000)
		}
		fmt.Fprintf(out, "| %s | %s | %.2f | ≤ %g | %s |\n", w.what, took, w.measured(), w.limit, verdict)
	}
	return missed
}

// stored are the rows about a large store. The public tools see the very same files.
func stored(b binaries, h home) ([]*work, error) {
	rg, err := debian.Ensure(context.Background(), debian.Package{Name: "ripgrep", Version: "13.0.0", Files: []string{"usr/bin/rg"}})
	if err != nil {
		return nil, err
	}
	agentctl := func(exit int, args ...string) job { return job{h.dir, append([]string{b.agentctl}, args...), exit} }
	tool := func(args ...string) job { return job{h.dir, args, 0} }
	const word = "xylophone" // that no session has
	claude, codex, opencode := generate.Homes(h.dir)
	version := agentctl(0, "version")
	find := tool("find", claude, codex, opencode, "-printf", `%T@ %p\n`)
	wc := tool("sh", "-c", `find "$@" -name '*.jsonl' -print0 | xargs -0 wc -l`, "sh", claude, codex)
	list := []*work{
		{what: "`version` ÷ hello world", limit: 3.5, job: version, yardstick: tool(b.hello)},
		{what: "`list -a --since all --json` ÷ `find -printf`", limit: 15, job: agentctl(0, "list", "-a", "--since", "all", "--json"), yardstick: find},
		{what: "`list -a --since all -n 20` ÷ `find -printf`", limit: 2, job: agentctl(0, "list", "-a", "--since", "all", "-n", "20"), yardstick: find},
		{what: "`list -a --since all --tokens` ÷ `wc -l`", limit: 3, job: agentctl(0, "list", "-a", "--since", "all", "--tokens", "--json"), yardstick: wc},
		{what: "`usage --since all` ÷ `wc -l`", limit: 3, job: agentctl(0, "usage", "--since", "all"), yardstick: wc},
		{
			what: "`search` of files for a rare word ÷ `rg -c`", limit: 3, job: agentctl(cli.ExitNo, "search", "--since", "all", "--adapter", "claude-code,codex", word),
			yardstick: job{h.dir, []string{rg.Path("usr/bin/rg"), "-c", "-uuu", word, claude, codex}, 1},
		},
		{
			what: "`search` of a database for a rare word ÷ `cat`", limit: 6, job: agentctl(cli.ExitNo, "search", "--since", "all", "--adapter", "opencode", word),
			yardstick: tool("sh", "-c", `cat "$1"/*.db >/dev/null`, "sh", opencode),
		},
		{what: "`guard` ÷ `version`", limit: 5, job: agentctl(0, "guard", h.dir), yardstick: version},
	}
	seen := map[string]bool{}
	for _, s := range h.sessions[len(h.sessions)/2:] { // one of each agent, of middle age
		if !seen[s.Agent] {
			seen[s.Agent] = true
			list = append(list,
				&work{what: "`status` of a full ID ÷ `version`, " + s.Agent, limit: 8, job: agentctl(0, "status", s.ID), yardstick: version},
				&work{what: "`peek` of a full ID ÷ `version`, " + s.Agent, limit: 8, job: agentctl(0, "peek", s.ID), yardstick: version})
		}
	}
	return list, nil
}
