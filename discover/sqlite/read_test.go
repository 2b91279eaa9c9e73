package sqlite

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver, which writes what is read here

	"agentctl/discover/storage"
	"agentctl/tests/must"
)

// count reads the tables and fails unless they agree, as they do after every commit.
func count(t testing.TB, path string) (int, error) {
	t.Helper()
	var a, b, total int64
	err := Read(t.Context(), path, func(db *DB) error {
		for _, sum := range []struct {
			table string
			into  *int64
		}{{"a", &a}, {"total", &total}, {"b", &b}} {
			*sum.into = 0
			for r := range db.Query("select n from " + sum.table) {
				*sum.into += r.Int("n")
			}
		}
		_, damage := db.Damage()
		return damage
	})
	if err == nil && (a != b || a != total) {
		t.Fatalf("not one moment: a %d, b %d, total %d", a, b, total)
	}
	return int(total), err
}

// state is everything in a directory that a reader could have changed.
func state(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v %v %d\n", path, info.Mode(), info.ModTime(), info.Size())
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			fmt.Fprintf(&out, "%x\n", sha256.Sum256(raw))
			return err
		}
		return nil
	})
	must.Do(t, err)
	return out.String()
}

// filled makes a database whose last commits are in the log, as a killed writer leaves it.
func filled(t testing.TB, commits int, keep ...string) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "src.db")
	db, err := openWriter(src)
	must.Do(t, err)
	for range commits {
		must.Do(t, commit(db))
	}
	dst := filepath.Join(t.TempDir(), "left?#%behind.db")
	for _, suffix := range append([]string{""}, keep...) {
		raw, err := os.ReadFile(src + suffix)
		must.Do(t, err)
		put(t, dst+suffix, raw)
	}
	must.Do(t, db.Close())
	return dst
}

func put(t testing.TB, path string, raw []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, raw, 0o600))
}

func TestReadOfLeftoverFiles(t *testing.T) {
	for name, keep := range map[string][]string{
		"killed":           {"-wal", "-shm"},
		"killed, no index": {"-wal"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 7, keep...)
			must.Do(t, os.Chmod(filepath.Dir(path), 0o500))
			defer os.Chmod(filepath.Dir(path), 0o700) //nolint:errcheck // for the cleanup
			before := state(t, filepath.Dir(path))
			if n, err := count(t, path); n != 7 || err != nil {
				t.Errorf("got %d commits, %v; want 7", n, err)
			}
			if after := state(t, filepath.Dir(path)); after != before {
				t.Errorf("the folder changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestReadSeesCommittedOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.db")
	db, err := openWriter(path)
	must.Do(t, err)
	defer db.Close()
	must.Do(t, commit(db))
	conn, err := db.Conn(t.Context())
	must.Do(t, err)
	defer conn.Close()
	// A cache of one page: what is not committed is written to the log early.
	for _, stmt := range []string{"pragma cache_size=1", "begin exclusive", "insert into a(text) select hex(randomblob(3000)) from a, (values (1),(2),(3),(4),(5),(6),(7),(8),(9))"} {
		if _, err := conn.ExecContext(t.Context(), stmt); err != nil {
			t.Fatal(err)
		}
	}
	before := state(t, filepath.Dir(path))
	if n, err := count(t, path); n != 1 || err != nil {
		t.Errorf("under an exclusive lock: got %d, %v; want 1", n, err)
	}
	if after := state(t, filepath.Dir(path)); after != before {
		t.Errorf("the folder changed:\n%s\n%s", before, after)
	}
	if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
}

func TestReadWithRollbackJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite3", "file:"+path)
	must.Do(t, err)
	defer db.Close()
	if _, err := db.Exec("create table total(n integer); insert into total values (5); create table a(x); create table b(x)"); err != nil {
		t.Fatal(err)
	}
	total := func() (n int, err error) {
		err = Read(t.Context(), path, func(d *DB) error {
			for r := range d.Query("select n from total") {
				n = int(r.Int("n"))
			}
			return nil
		})
		return n, err
	}
	if n, err := total(); n != 5 || err != nil {
		t.Errorf("got %d, %v; want 5", n, err)
	}
	put(t, path+"-journal", []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and so on"))
	if n, err := total(); !errors.Is(err, errJournal) {
		t.Errorf("half a commit was read as %d, %v", n, err)
	}
	put(t, path+"-journal", make([]byte, 512))
	if n, err := total(); n != 5 || err != nil {
		t.Errorf("finished journal: got %d, %v; want 5", n, err)
	}
}

func TestReadOfBadFiles(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(filled(t, 60))
	must.Do(t, err)
	garbage := append([]byte(sqliteMagic), bytes.Repeat([]byte{0xff}, 5000)...)
	for name, raw := range map[string][]byte{
		"text.db": []byte("hello, this is no database at all"), "short.db": []byte(sqliteMagic), "garbage.db": garbage,
		"truncated.db": whole[:len(whole)/3], "pages.db": append(bytes.Clone(whole[:4096]), bytes.Repeat([]byte{7}, len(whole)-4096)...),
	} {
		put(t, filepath.Join(dir, name), raw)
		if n, err := count(t, filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: read as %d commits", name, n)
		}
	}
	if _, err := count(t, filepath.Join(dir, "text.db")); !errors.Is(err, ErrNotDatabase) {
		t.Errorf("text: %v", err)
	}
	if _, err := count(t, filepath.Join(dir, "missing.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := count(t, dir); !errors.Is(err, storage.ErrNotRegular) {
		t.Errorf("folder: %v", err)
	}
	put(t, filepath.Join(dir, "empty.db"), nil)
	err = Read(t.Context(), filepath.Join(dir, "empty.db"), func(d *DB) error {
		if tables := d.Tables(); len(tables) > 0 {
			t.Errorf("tables %q", tables)
		}
		return nil
	})
	if err != nil {
		t.Errorf("empty: %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	path := filled(f, 3, "-wal")
	raw, err := os.ReadFile(path + "-wal")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), byte(1), uint32(len(raw)))
	f.Add(uint32(40), byte(0xff), uint32(len(raw)))
	f.Add(uint32(5000), byte(3), uint32(9000))
	f.Fuzz(func(t *testing.T, at uint32, flip byte, length uint32) {
		torn := bytes.Clone(raw)
		torn[int(at)%len(torn)] ^= flip
		torn = torn[:int(length)%(len(torn)+1)]
		put(t, path+"-wal", torn)
		n, err := count(t, path) // fails the test where it is not one commit's state
		if err != nil && n != 0 || n > 3 {
			t.Errorf("%d commits, %v", n, err)
		}
	})
}

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
