package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
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
