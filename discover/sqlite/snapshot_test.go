package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/tests/must"
)

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
