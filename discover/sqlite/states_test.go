package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentctl/tests/extent"
	"agentctl/tests/must"
)

// contents are the rows of the table t as one text each, by our snapshot.
func contents(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	err := Read(t.Context(), path, func(db *DB) error {
		out = nil
		table := db.Table("t", "id", "n", "data")
		for key := range db.Query("select rowid, id from t order by rowid") {
			found := 0
			for same := range db.Query("select rowid from t where id = ?", key.Text("id", 50)) {
				if same.Int("rowid") == key.Int("rowid") {
					found++
				}
			}
			r := table.Row(key.Int("rowid"))
			if r == nil || found != 1 {
				t.Errorf("%s is not found by its key", key.Text("id", 50))
				continue
			}
			out = append(out, fmt.Sprintf("%s %d %s", r.Text("id", 50), r.Int("n"), r.Text("data", 1e6)))
		}
		_, damage := db.Damage()
		return damage
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// wanted returns the same rows as SQLite itself reads them.
func wanted(t *testing.T, db *sql.DB) []string {
	t.Helper()
	rows, err := db.Query("select id || ' ' || n || ' ' || data from t order by rowid")
	must.Do(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		must.Do(t, rows.Scan(&s))
		out = append(out, s)
	}
	return out
}

// A log in every state it can be in gives what SQLite gives, for the smallest page size, the usual one and the largest, or all if all are asked
// for, and for all ways to vacuum.
func TestReadInAllStates(t *testing.T) {
	for size := 512; size <= 65536; size *= 2 {
		if size != 512 && size != 4096 && size != 65536 && !extent.All() {
			continue
		}
		for _, vacuum := range []string{"none", "full", "incremental"} {
			t.Run(fmt.Sprint(size, " ", vacuum), func(t *testing.T) { allStates(t, size, vacuum) })
		}
	}
}

func allStates(t *testing.T, size int, vacuum string) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite3", fmt.Sprintf("file:%s?_pragma=page_size(%d)&_pragma=auto_vacuum(%s)&_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=wal_autocheckpoint(0)", path, size, vacuum))
	must.Do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	insert := `with recursive s(v) as (select 1 union all select v + 1 from s where v < 80)
		insert or replace into t select printf('key_%04d', (v * ?) % 997), v, hex(zeroblob(case v % 20 when 0 then 9000 else v end)) from s`
	compare := func(state string) {
		t.Helper()
		want := wanted(t, db)
		if got := contents(t, path); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d", state, len(got), len(want))
		}
		for _, keep := range [][]string{{"-wal", "-shm"}, {"-wal"}} { // what a killed writer leaves, and a copy of it
			left := filepath.Join(t.TempDir(), "left.db")
			for _, suffix := range append(keep, "") {
				if raw, err := os.ReadFile(path + suffix); err == nil {
					put(t, left+suffix, raw)
				}
			}
			if got := contents(t, left); !slices.Equal(got, want) {
				t.Errorf("%s, left behind with %q: %d rows, want %d", state, keep, len(got), len(want))
			}
		}
	}
	for _, step := range []struct {
		name, sql string
		args      []any
	}{
		{"made", "create table t(id text primary key, n, data)", nil},
		{"filled", insert, []any{7}},
		{"checkpointed in part", "pragma wal_checkpoint(passive)", nil},
		{"begun anew", insert, []any{11}},
		{"deleted", "delete from t where n % 3 = 0", nil},
		{"checkpointed", "pragma wal_checkpoint(restart)", nil},
		{"after a restart", insert, []any{13}},
		{"vacuumed", "pragma incremental_vacuum", nil},
		{"cut off", "pragma wal_checkpoint(truncate)", nil},
		{"after a cut", insert, []any{17}},
		{"rebuilt", "vacuum", nil},
	} {
		if _, err := db.Exec(step.sql, step.args...); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		compare(step.name)
	}
	want := wanted(t, db)
	if err := db.Close(); err != nil { // moves the log into the database and removes it
		t.Fatal(err)
	}
	if got := contents(t, path); len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("closed: %d rows, want %d", len(got), len(want))
	}
}

// execAll runs statements.
func execAll(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// changesUnseen takes a snapshot, changes the database, and fails if the snapshot is intact by its own account. stamp
// sets the times of the file.
func changesUnseen(t *testing.T, path string, rounds int, stamp func()) {
	t.Helper()
	db, err := openWriter(path)
	must.Do(t, err)
	defer db.Close()
	change := func() {
		execAll(t, db, "update total set n = n + 1", "pragma wal_checkpoint(truncate)")
		stamp()
	}
	for range rounds {
		change()
		s, err := openSnapshot(t.Context(), path)
		must.Do(t, err)
		change()
		intact, err := s.intact()
		s.close()
		if intact || err != nil {
			t.Fatalf("a snapshot is intact although the database has changed, %v", err)
		}
	}
}

// TestSnapshotInWholeSeconds: no change goes unnoticed where all changes of a second have the same time.
func TestSnapshotInWholeSeconds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	second := time.Now().Add(-time.Second).Truncate(time.Second)
	changesUnseen(t, path, 3, func() {
		must.Do(t, os.Chtimes(path, second, second))
	})
}

// TestSnapshotOfGrownDatabase: a checkpoint enlarges the database between the open of the database and that of the log,
// which then has no commit; the size is out of date.
func TestSnapshotOfGrownDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := openWriter(path)
	must.Do(t, err)
	defer db.Close()
	execAll(t, db, "pragma wal_checkpoint(truncate)")
	hourAgo := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(path, hourAgo, hourAgo))
	execAll(t, db, "with recursive s(v) as (select 1 union all select v + 1 from s where v < 99) insert into a(n, text) select 0, hex(randomblob(3000)) from s")

	s, err := openDatabase(t.Context(), path)
	must.Do(t, err)
	defer s.close()
	small := s.db.Size()
	// The log is moved into the database, and begun anew by a transaction that is not committed.
	execAll(t, db, "pragma wal_checkpoint(restart)", "pragma cache_size=1", "begin", "update a set text = hex(randomblob(3000))")
	must.Do(t, s.openWAL(t.Context()))
	must.Do(t, s.readSizes())
	info, err := os.Stat(path)
	must.Do(t, err)
	if s.wal == nil || s.wal.pageSize == 0 || s.wal.next != 0 || info.Size() <= small {
		t.Fatalf("the case is not made: log %+v, %d bytes and before %d", s.wal, info.Size(), small)
	}
	if intact, err := s.intact(); intact || err != nil {
		t.Errorf("a size of %d bytes counts as that of a database of %d, %v", s.size, info.Size(), err)
	}
	execAll(t, db, "rollback")
	if n, err := count(t, path); err != nil {
		t.Errorf("read as %d, %v", n, err)
	}
}
