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

const (
	// databaseSessions make OpenCode's database half a gigabyte large.
	databaseSessions = 2250
	// databaseLimit is how many milliseconds such a database may add to a list.
	databaseLimit = 5
)

// measureDatabase times a list of the last week with a large database of OpenCode's, which somebody writes without pause, and
// without it. Nothing may be written or locked, and no writer may be told that the database is busy.
func measureDatabase(w io.Writer, b binaries, work string, rounds int) error {
	o := generate.Defaults()
	o.Sessions, o.Only = databaseSessions, "opencode"
	home, none := filepath.Join(work, "database"), filepath.Join(work, "none")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(none, 0o700)); err != nil {
		return err
	}
	list, err := generate.Store(home, o)
	if err != nil {
		return err
	}
	info, err := os.Stat(list[0].Path)
	if err != nil {
		return err
	}
	argv := []string{b.agentctl, "list", "-a", "--since", lastWeek(), "--json"}
	with, without := &job{argv: argv, home: home}, &job{argv: argv, home: none}
	still, err := writeOn(list[0].Path, list[0].ID)
	if err != nil {
		return err
	}
	for range rounds {
		without.time()
		with.time()
	}
	traced, err := trace.Run(with.command())
	commits, busy, failed := still()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	fmt.Fprintf(w, "a database of %s MB, %d commits meanwhile: list -a of seven days %s ms, without it %s ms\n",
		megabytes(info.Size()), commits, milliseconds(with.median()), milliseconds(without.median()))
	added := float64(with.median()-without.median()) / float64(time.Millisecond)
	known := with.failure+without.failure == "" && commits > 0
	if printBars(w, []bar{
		{what: "a live database of half a gigabyte adds, ms", measured: added, limit: databaseLimit, known: known},
		{what: "commits that were refused", measured: float64(busy), known: known},
		{what: "writes and locks in its home", measured: float64(len(traced.Changes(home))), known: known},
	}) > 0 {
		return errors.New("a large database costs too much " + with.failure + without.failure)
	}
	return nil
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
