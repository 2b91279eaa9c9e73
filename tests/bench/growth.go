package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"agentctl/tests/store/generate"
)

// series is one kind of cost against one kind of size.
type series struct {
	// size is what grows, and sizes how large it was.
	size  string
	sizes []int
	// jobs are those of each size, the same in the same order.
	jobs [][]*job
}

// grow measures how the cost of commands grows: with the sessions (small ones, so that their number counts), with their
// size, and with the processes, of which there are some already.
func grow(w io.Writer, b binaries, o options, stores string) error {
	sessions := series{size: "sessions", sizes: o.sizes}
	for _, n := range sessions.sizes {
		small := generate.Defaults()
		small.Sessions, small.Min, small.Median, small.Max = n, 1, 1, 1
		jobs, err := b.growing(stores, small, findTree, live, guard, listAll, newest, week)
		if err != nil {
			return err
		}
		sessions.jobs = append(sessions.jobs, jobs)
	}
	bytes := series{size: "bytes of a session", sizes: []int{100_000, 1_000_000, 10_000_000}}
	for _, n := range bytes.sizes {
		few := generate.Defaults()
		few.Sessions, few.Min, few.Median, few.Max = 20, n, n, n
		jobs, err := b.growing(stores, few, listAll, status+"codex", status+"opencode", status+"claude-code")
		if err != nil {
			return err
		}
		bytes.jobs = append(bytes.jobs, jobs)
	}
	measure(o.rounds, sessions.jobs...)
	measure(o.rounds, bytes.jobs...)
	processes := series{size: "other processes", sizes: []int{o.processes, 1000, 2000}}
	for i, n := range processes.sizes {
		if i > 0 {
			if err := crowd(processes.sizes[i-1], n); err != nil {
				return err
			}
		}
		jobs := []*job{{name: live, argv: []string{b.agentctl, "list"}, home: sessions.jobs[0][0].home}, {name: ps, argv: psArgs()}}
		measure(o.rounds, jobs)
		processes.jobs = append(processes.jobs, jobs)
	}
	for _, s := range []series{sessions, bytes, processes} {
		if err := s.print(w); err != nil {
			return err
		}
	}
	if missed := printBars(w, sessions.bars()); missed > 0 {
		return fmt.Errorf("%d bars not met", missed)
	}
	return nil
}

// bars are those of the largest store, in which a list that is for seven days of it goes through all names.
func (s series) bars() []bar {
	last := len(s.sizes) - 1
	jobs, n := s.jobs[last], s.sizes[last]
	return []bar{ratio(fmt.Sprintf("list -a of seven days ÷ find, %d sessions", n), find(jobs, week, n), find(jobs, findTree, n), 1.5)}
}

// growing are the jobs of these names for a store.
func (b binaries) growing(stores string, o generate.Options, names ...string) ([]*job, error) {
	dir, made, err := generate.Cached(stores, o)
	if err != nil {
		return nil, err
	}
	all := b.storeJobs(dir, made)
	var out []*job
	for _, name := range names {
		if j := find(all, name, len(made)); j != nil {
			out = append(out, j)
		}
	}
	return out, nil
}

// measure times the jobs in turns, and counts them.
func measure(rounds int, sets ...[]*job) {
	inTurns(rounds, sets...)
	for _, jobs := range sets {
		for _, j := range jobs {
			j.count()
		}
	}
}

// inTurns times each job once a round, or as often as it asks for, just after its yardstick each time.
func inTurns(rounds int, sets ...[]*job) {
	for range rounds {
		for _, jobs := range sets {
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
	}
}

// print writes one row a job and size. An exponent is that by which a cost grew since the size before: 0 is not at all,
// 1 as much as the size.
func (s series) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n%s\tmedian ms\texponent\tsyscalls\texponent\tMB read\texponent\tMB resident\t  command\n", s.size)
	for i, j := range s.jobs[0] {
		for k, n := range s.sizes {
			now, before := s.jobs[k][i], j
			ratio := 1.0
			if k > 0 {
				before, ratio = s.jobs[k-1][i], float64(n)/float64(s.sizes[k-1])
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t  %s\n", n,
				milliseconds(now.median()), exponent(before.median(), now.median(), ratio),
				now.syscalls, exponent(before.syscalls, now.syscalls, ratio),
				megabytes(now.read), exponent(before.read, now.read, ratio), megabytes(now.rss), now.name)
			if now.failure != "" {
				fmt.Fprintf(t, "FAILED: %s: %s\n", now.name, now.failure)
			}
		}
	}
	return t.Flush()
}

// exponent is e where cost grew by ratio to the power of e; "" where the size did not grow, or nothing was spent.
func exponent[N int | int64 | time.Duration](before, now N, ratio float64) string {
	if ratio == 1 || before <= 0 || now <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", math.Log(float64(now)/float64(before))/math.Log(ratio))
}
