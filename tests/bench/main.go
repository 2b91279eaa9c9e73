// Bench times and counts agentctl beside public tools, in one run and in turns, and prints one table:
//
//	go run ./tests/bench
//	go run ./tests/bench -live             # ten live sessions, beside small and large stores
//	go run ./tests/bench -wait 60s   # what `agentctl wait` takes while everything writes
//	go run ./tests/bench -cold -rounds 7   # the first call after a start of the machine, so to say
//	go run ./tests/bench -older PATH       # another program's list beside ours
//	go run ./tests/bench -database         # half a gigabyte of OpenCode's, while it is written
//	go run ./tests/bench -growth -rounds 5 -sizes 100,1000,10000,100000   # how costs grow
//
// The stores are made once and kept in the user's cache folder. On Linux everything runs in a pid namespace of its
// own with a known number of processes, where the system allows that. A bar that is not met makes the exit status 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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

// options are the command line's.
type options struct {
	rounds    int
	sizes     []int
	processes int
	wait      time.Duration
	watch     time.Duration
	live      bool
	growth    bool
	cold      bool
	database  bool
	only      string
	older     string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&o.rounds, "rounds", 15, "how often each command is timed")
	flags.IntVar(&o.processes, "processes", 300, "how many other processes there are")
	flags.DurationVar(&o.wait, "wait", 0, "only measure what waiting for so long takes")
	flags.DurationVar(&o.watch, "watch", 0, "only measure what watching all sessions for so long takes, beside the largest store")
	flags.BoolVar(&o.live, "live", false, "only measure a list of ten live sessions beside each store, and beside many processes")
	flags.BoolVar(&o.growth, "growth", false, "only measure how costs grow with sessions, their size and processes")
	flags.BoolVar(&o.cold, "cold", false, "only measure the first call after the system has forgotten all files; needs root")
	flags.BoolVar(&o.database, "database", false, "only measure what a large database of OpenCode's adds while it is written")
	flags.StringVar(&o.only, "only", "", "stores of this agent's sessions alone: claude-code, codex, opencode")
	flags.StringVar(&o.older, "older", "", "only time the list of another program, at this path, beside ours")
	sizes := flags.String("sizes", "100,1000,10000", "sessions in the stores, ascending")
	_ = flags.Parse(args) // it exits by itself
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return o, fmt.Errorf("-sizes: %w", err)
		}
		o.sizes = append(o.sizes, n)
	}
	return o, nil
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if (o.live || o.older != "") && !sandbox.Inside() { // others' agents would be measured, and what is left would stay
		return errors.New("-live, -older: they need a process table of their own")
	}
	if err := crowd(0, o.processes); err != nil {
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
	if o.wait > 0 {
		return measureWait(os.Stdout, bins, work, o.wait)
	}
	if o.database {
		return measureDatabase(os.Stdout, bins, work, o.rounds)
	}
	if o.older != "" {
		return measureOlder(os.Stdout, bins, o, work)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	stores := filepath.Join(cache, "agentctl-test", "stores")
	if o.watch > 0 {
		return measureWatch(os.Stdout, bins, work, stores, slices.Max(o.sizes), o.watch)
	}
	if o.live {
		return measureLive(os.Stdout, bins, o, work, stores)
	}
	if o.cold {
		return measureCold(os.Stdout, bins, stores, slices.Max(o.sizes), o.rounds)
	}
	if o.growth {
		return grow(os.Stdout, bins, o, stores)
	}
	jobs := bins.jobs()
	for _, n := range o.sizes {
		made := generate.Defaults()
		made.Sessions, made.Only = n, o.only
		dir, sessions, err := generate.Cached(stores, made)
		if err != nil {
			return err
		}
		jobs = append(jobs, bins.storeJobs(dir, sessions)...)
	}
	measure(o.rounds, jobs)
	if err := printTable(os.Stdout, jobs); err != nil {
		return err
	}
	if missed := printBars(os.Stdout, bars(jobs, o.sizes)); missed > 0 {
		return fmt.Errorf("%d bars not met", missed)
	}
	return nil
}

// crowd has the idle processes become so many, from as many as there are; they end with the namespace.
func crowd(from, to int) error {
	if !sandbox.Inside() {
		return nil // nobody would end them
	}
	for range to - from {
		if err := exec.Command("sleep", "100000").Start(); err != nil {
			return err
		}
	}
	fmt.Printf("a process table of its own, with %d idle processes\n\n", to)
	return nil
}
