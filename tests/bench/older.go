package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"agentctl/tests/store/generate"
)

// measureOlder times another program's list beside ours, for comparison only: there is no bar, and what it fails with is
// told and no failure. Its home is a store that nobody else uses, as it may write there; what it leaves running ends with
// the process table.
func measureOlder(w io.Writer, b binaries, o options, work string) error {
	made := generate.Defaults()
	made.Sessions, made.Only = slices.Max(o.sizes), o.only
	home := filepath.Join(work, "older")
	if _, err := generate.Store(home, made); err != nil {
		return err
	}
	older := &job{name: o.older + " list --json", argv: []string{o.older, "list", "--json"}}
	ours := []*job{
		{name: live, argv: []string{b.agentctl, "list"}, yardstick: older.name},
		{name: listAll, argv: []string{b.agentctl, "list", "-a", "--since", "all", "--json"}, yardstick: older.name},
	}
	jobs := append([]*job{older}, ours...)
	for _, j := range jobs {
		j.sessions, j.home, j.syscalls = made.Sessions, home, -1
	}
	inTurns(o.rounds, jobs)
	if err := printTable(w, jobs); err != nil {
		return err
	}
	for _, j := range ours {
		if j.failure != "" {
			return fmt.Errorf("%s: %s", j.name, j.failure)
		}
	}
	return nil
}
