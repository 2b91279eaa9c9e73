// Bench times and counts agentctl beside public tools, in one run and in turns, and prints one table of what is asked for:
//
//	go run ./tests/bench
//	go run ./tests/bench -part live,events
//
// The stores are made once and kept in the user's cache folder. On Linux everything runs in a pid namespace of its
// own with a known number of processes, where the system allows that. A bar that is not met makes the exit status 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/tests/sandbox"
	"agentctl/tests/store/generate"
)

func main() {
	if code, played := playing(); played {
		os.Exit(code)
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// idle is how many other processes there are at first.
const idle = 300

// options are the command line's.
type options struct {
	rounds, few, many int
	parts             []string
}

func parse(args []string) (o options, err error) {
	all := []string{"stores", "search", "database", "events", "top", "live"}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&o.rounds, "rounds", 15, "how often each command is timed")
	flags.IntVar(&o.few, "few", 100, "sessions in the small store")
	flags.IntVar(&o.many, "many", 10_000, "sessions in the large store")
	parts := flags.String("part", strings.Join(all, ","), "what is measured")
	_ = flags.Parse(args) // it exits by itself
	o.parts = strings.Split(*parts, ",")
	for _, part := range o.parts {
		if !slices.Contains(all, part) {
			return o, fmt.Errorf("-part: %q is none of %s", part, strings.Join(all, ", "))
		}
	}
	return o, nil
}

// storage is a home with generated sessions.
type storage struct {
	home     string
	sessions []generate.Session
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if !sandbox.Inside() { // others' agents would be measured, and what is left would stay
		return errors.New("it needs a process table of its own")
	}
	if err := crowd(0, idle); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "agentctl-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	bins, err := build(work)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	var stores []storage
	for _, n := range []int{o.few, o.many} {
		made := generate.Defaults()
		made.Sessions = n
		dir, sessions, err := generate.Cached(filepath.Join(cache, "agentctl-test", "stores"), made)
		if err != nil {
			return err
		}
		stores = append(stores, storage{dir, sessions})
	}
	list, err := bins.measure(os.Stdout, o, work, stores)
	if err != nil {
		return err
	}
	if missed := printBars(os.Stdout, list); missed > 0 {
		return fmt.Errorf("%d bars not met", missed)
	}
	return nil
}

// measure measures the parts that are asked for, those with more processes last, and returns their bars.
func (b binaries) measure(w io.Writer, o options, work string, stores []storage) ([]bar, error) {
	size, err := binaryBar(b.agentctl)
	if err != nil {
		return nil, err
	}
	list := []bar{size}
	for _, part := range []struct {
		name    string
		measure func() ([]bar, error)
	}{
		{"stores", func() ([]bar, error) {
			jobs := b.jobs()
			for _, s := range stores {
				jobs = append(jobs, b.storeJobs(s)...)
			}
			measure(o.rounds, jobs)
			return storeBars(jobs, o.few, o.many), printTable(w, jobs)
		}},
		{"search", func() ([]bar, error) { return measureSearch(w, b, o.rounds, stores[1]) }},
		{"database", func() ([]bar, error) { return measureDatabase(w, b, o.rounds, work) }},
		{"events", func() ([]bar, error) { return measureEvents(w, b, work, stores[1].home, o.many) }},
		{"top", func() ([]bar, error) { return measureTop(w, b, work, stores[1].home, o.many) }},
		{"live", func() ([]bar, error) { return measureLive(w, b, o.rounds, idle, work, stores) }},
	} {
		if !slices.Contains(o.parts, part.name) {
			continue
		}
		bars, err := part.measure()
		if err != nil {
			return nil, err
		}
		list = append(list, bars...)
	}
	return list, nil
}

// crowd has the idle processes become so many, from as many as there are; they end with the namespace.
func crowd(from, to int) error {
	for range to - from {
		if err := exec.Command("sleep", "100000").Start(); err != nil {
			return err
		}
	}
	fmt.Printf("a process table of its own, with %d idle processes\n\n", to)
	return nil
}
