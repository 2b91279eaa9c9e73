package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadOutOfFileDescriptors: if the process may open no more files, Read returns that error at once, whichever file of
// the database it is about.
func TestReadOutOfFileDescriptors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"pragma journal_mode=wal", "create table t(id text, n int, data text)", "insert into t values('a', 1, 'x')"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	free, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(free.Fd())
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}()
	refused := 0
	for more := range uint64(8) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: next + more, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		err := Read(t.Context(), path, func(db *DB) error {
			for range db.Query("select * from t") {
				continue
			}
			_, damage := db.Damage()
			return damage
		})
		if err == nil {
			continue
		}
		if refused++; !errors.Is(err, syscall.EMFILE) || strings.Contains(err.Error(), "attempts") {
			t.Errorf("%d more files: %v", more, err)
		}
	}
	if refused < 3 {
		t.Errorf("only %d of its files were refused", refused)
	}
}
