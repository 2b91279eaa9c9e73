package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"agentctl/tests/store/generate"
)

// coldLimit is how many times as long as find, cold as well, a list of the newest sessions may take.
const coldLimit = 1.3

// measureCold times the first call after the system has forgotten what it had read: find, and a list of the newest twenty.
// It needs the right to have the system forget (root).
func measureCold(w io.Writer, b binaries, stores string, sessions, rounds int) error {
	made := generate.Defaults()
	made.Sessions = sessions
	dir, list, err := generate.Cached(stores, made)
	if err != nil {
		return err
	}
	jobs := b.storeJobs(dir, list)
	wanted := []*job{find(jobs, findTree, sessions), find(jobs, newest, sessions), find(jobs, live, sessions)}
	for range rounds {
		for _, j := range wanted {
			if err := forget(); err != nil {
				return fmt.Errorf("-cold: %w", err)
			}
			j.time()
		}
	}
	for _, j := range wanted {
		j.syscalls = -1
		fmt.Fprintf(w, "%10s ms  %s, cold\n", milliseconds(j.median()), j.name)
	}
	cold := ratio("list -a --since all -n 20 ÷ find, both cold", wanted[1], wanted[0], coldLimit)
	printBars(w, []bar{cold})
	if !cold.met() {
		return errors.New("a cold start takes too long")
	}
	return nil
}

// forget drops the system's page, directory and inode caches.
func forget() error {
	unix.Sync() // what is still to be written stays
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0o200)
}
