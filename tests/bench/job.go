package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"agentctl/tests/trace"
)

// job is one command that is measured.
type job struct {
	// name as the table shows it; sessions in its store, 0 where it reads none.
	name     string
	sessions int
	argv     []string
	home     string
	// exitCode is that of a success.
	exitCode int
	// first: only the time to the first byte on stdout counts.
	first bool
	// yardstick is the name of the job it is compared with, of the same store or of none.
	yardstick string

	times []time.Duration
	// beside are those of the yardstick each time just before: what ran before that is the same for both, and what it left
	// of the processors' caches.
	beside   []time.Duration
	syscalls int   // -1: not counted
	read     int64 // bytes from files
	rss      int64 // bytes
	failure  string
}

func (j *job) command() *exec.Cmd {
	cmd := exec.Command(j.argv[0], j.argv[1:]...)
	// Nothing of this machine's user: the store is the home, and its agents the only ones.
	cmd.Env = []string{"HOME=" + j.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	return cmd
}

// time runs the command once more, and returns how long that took; its output goes nowhere.
func (j *job) time() time.Duration {
	cmd := j.command()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second // what it leaves running may hold stderr
	began := time.Now()
	first := firstByte{}
	if j.first {
		cmd.Stdout = &first
	}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == j.exitCode {
		err = nil
	}
	took := time.Since(began)
	if j.first && err == nil && first.at.IsZero() {
		err = errors.New("it prints nothing")
	}
	if j.first {
		took = first.at.Sub(began)
	}
	j.times = append(j.times, took)
	if err != nil && j.failure == "" {
		j.failure = fmt.Sprintf("%v: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return took
}

// firstByte is a writer that keeps only when it was first written to.
type firstByte struct{ at time.Time }

func (f *firstByte) Write(p []byte) (int, error) {
	if f.at.IsZero() {
		f.at = time.Now()
	}
	return len(p), nil
}

// count runs it under the tracer, for what does not depend on speed.
func (j *job) count() {
	j.syscalls = -1
	r, err := trace.Run(j.command())
	if err != nil {
		if !errors.Is(err, trace.ErrUnsupported) && j.failure == "" {
			j.failure = err.Error()
		}
		return
	}
	j.syscalls, j.read, j.rss = len(r.Calls), trace.BytesRead(r.Calls), r.PeakRSS
}

// often is how often a round times the job: five times if it takes some milliseconds only, of which the system's moods are a
// large part.
func (j *job) often() int {
	if len(j.times) > 0 && j.least() < 10*time.Millisecond {
		return 5
	}
	return 1
}

func (j *job) median() time.Duration { return median(j.times) }

func median[N cmp.Ordered](values []N) N {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// over is how many times as long as another job it takes; as its yardstick, where that is the other one, beside it.
func (j *job) over(other *job) float64 {
	times := other.times
	if j.yardstick == other.name && len(j.beside) > 0 {
		times = j.beside
	}
	return float64(j.median()) / float64(median(times))
}

func (j *job) least() time.Duration { return slices.Min(j.times) }

// find returns the job of this name for a store of this size, or the one that reads none.
func find(jobs []*job, name string, sessions int) *job {
	for _, n := range []int{sessions, 0} {
		for _, j := range jobs {
			if j.name == name && j.sessions == n {
				return j
			}
		}
	}
	return nil
}

// measure times the jobs in turns, and counts them.
func measure(rounds int, jobs []*job) {
	for range rounds {
		for _, j := range jobs {
			y := find(jobs, j.yardstick, j.sessions)
			for range j.often() {
				if y != nil {
					j.beside = append(j.beside, y.time())
				}
				j.time()
			}
		}
	}
	for _, j := range jobs {
		j.count()
	}
}
