package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver" // the driver

	"agentctl/tests/store/generate"
	"agentctl/tests/trace"
)

// databaseSessions make OpenCode's database half a gigabyte large.
const databaseSessions = 2250

// measureDatabase times a list of the last week, up to its first row, with a large database of OpenCode's that somebody writes
// without pause. Nothing may be written or locked, and no writer may be told that the database is busy.
func measureDatabase(w io.Writer, b binaries, rounds int, work string) ([]bar, error) {
	o := generate.Defaults()
	o.Sessions, o.Only = databaseSessions, "opencode"
	home := filepath.Join(work, "database")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	list, err := generate.Store(home, o)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(list[0].Path)
	if err != nil {
		return nil, err
	}
	week := o.End.AddDate(0, 0, -7).Format(time.RFC3339)
	jobs := []*job{
		{name: version, argv: []string{b.agentctl, "version"}},
		{name: recent, argv: []string{b.agentctl, "list", "-a", "--since", week, "--json"}, home: home, yardstick: version, first: true},
	}
	still, err := writeOn(list[0].Path, list[0].ID)
	if err != nil {
		return nil, err
	}
	measure(rounds, jobs)
	traced, err := trace.Run(jobs[1].command())
	commits, busy, failed := still()
	if err = errors.Join(err, failed, printTable(w, jobs)); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "a database of %s MB, %d commits meanwhile\n", megabytes(info.Size()), commits)
	known := jobs[1].failure == "" && commits > 0
	return []bar{
		ratio("first row of `list -a`, 500 MB database with a live writer ÷ `version`", jobs[1], jobs[0], 6),
		{what: "… commits that were refused", measured: float64(busy), known: known},
		{what: "… writes and locks below its home", measured: float64(len(traced.Changes(home))), known: known},
	}, nil
}

// writeOn commits to a session of the database, as OpenCode does, until it is told to stop. Then it says how often that was
// done, and how often it was refused since the database was busy.
func writeOn(path, id string) (stop func() (commits, busy int, err error), err error) {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var commits, busy int
	var failed error
	var wg sync.WaitGroup
	ended := make(chan struct{})
	wg.Go(func() {
		for n := 0; failed == nil; n++ {
			select {
			case <-ended:
				return
			default:
			}
			_, err := db.Exec("UPDATE session SET time_updated = ? WHERE id = ?", time.Now().UnixMilli(), id)
			switch {
			case err == nil:
				commits++
			case errors.Is(err, sqlite3.BUSY):
				busy++
			default:
				failed = err
			}
		}
	})
	return func() (int, int, error) {
		close(ended)
		wg.Wait()
		return commits, busy, errors.Join(failed, db.Close())
	}, nil
}
