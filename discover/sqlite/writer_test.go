package sqlite

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver, which writes what is read here

	"agentctl/tests/must"
)

const writerKey = "NATIVE_TEST_WRITER" // makes this binary a database writer: "MODE PATH"

func TestMain(m *testing.M) {
	if job := os.Getenv(writerKey); job != "" {
		mode, path, _ := strings.Cut(job, " ")
		if err := write(mode, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write commits transactions until standard input ends: each counts in one row of two tables and in a third.
// Any SQLITE_BUSY is an error, since it waits for nobody.
func write(mode, path string) error {
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	db, err := openWriter(path)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		select {
		case <-ended:
			return db.Close()
		default:
		}
		if err := commit(db); err != nil {
			return fmt.Errorf("commit %d: %w", n, err)
		}
		if n == 0 {
			fmt.Println("ready")
		}
		if mode == "checkpoint" && n%5 == 4 {
			if _, err := db.Exec("pragma wal_checkpoint(restart)"); err != nil {
				return err
			}
		}
		if mode == "reopen" && n%5 == 4 { // the log and its index vanish and come back
			if err := db.Close(); err != nil {
				return err
			}
			if db, err = openWriter(path); err != nil {
				return err
			}
		}
	}
}

func openWriter(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, stmt := range []string{
		"create table if not exists a(id integer primary key, n integer, text text)",
		"create table if not exists b(id integer primary key, n integer, text text)",
		"create table if not exists total(n integer)",
		"insert into total select 0 where not exists (select 1 from total)",
	} {
		if _, err := db.Exec(stmt); err != nil {
			return nil, err
		}
	}
	return db, nil
}

func commit(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, stmt := range []string{
		"insert into a select n % 60, 1, hex(randomblob(300)) from total where true on conflict do update set n = n + 1, text = excluded.text",
		"update total set n = n + 1",
		"insert into b select n % 70, 1, hex(randomblob(2900)) from total where true on conflict do update set n = n + 1, text = excluded.text",
	} {
		if _, err := tx.Exec(stmt); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// A writer in a tight loop never sees SQLITE_BUSY, and every read gives the state after one commit.
func TestReadWithActiveWriter(t *testing.T) {
	for _, mode := range []string{"loop", "reopen"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "busy.db")
			stop := startWriter(t, mode, path)
			last := 0
			for range 300 {
				n, err := count(t, path)
				must.Do(t, err)
				if n < last {
					t.Fatalf("went back from %d to %d", last, n)
				}
				last = n
			}
			if err := stop(); err != nil {
				t.Fatalf("the writer: %v", err)
			}
			if n, err := count(t, path); n < last || err != nil {
				t.Errorf("afterwards: %d, %v", n, err)
			}
		})
	}
}

// startWriter returns once the writer has committed; stop ends it and returns its error.
func startWriter(t *testing.T, mode, path string) (stop func() error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerKey+"="+mode+" "+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the writer did not start: %v %s", err, stderr.String())
	}
	return func() error {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w: %s", err, stderr.String())
		}
		return nil
	}
}
