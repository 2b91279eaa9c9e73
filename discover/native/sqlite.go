package native

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
	"modernc.org/sqlite/vfs"
)

// DB is a database at one moment. It is read-only and used by one goroutine at a time.
type DB struct {
	sql        *sql.DB
	statements map[string]*sql.Stmt
}

// snapshotName is the only file that SQLite sees.
const snapshotName = "db"

// Retries of [ReadDB]. Writers checkpoint every few hundred commits and a small read takes less than a millisecond, so
// two are rare; a writer that checkpoints all the time needs many short tries.
const (
	maxReads  = 200
	firstWait = 250 * time.Microsecond
	longWait  = 4 * time.Millisecond
)

// ReadDB runs read on the SQLite database at path as of its last committed transaction, whether or not a writer is
// at work, was killed, or left its log without an index. It writes nothing, takes no lock, creates no file, and opens
// the files for reading only.
//
// Where a checkpoint changed pages meanwhile, read is run again from the start: it must begin by forgetting what an
// earlier run gave it. A database that does not exist is fs.ErrNotExist, an empty one has no tables, and
// [ErrNotDatabase] is returned for another sort of file.
func ReadDB(ctx context.Context, path string, read func(*DB) error) error {
	var pages []int64
	wait := firstWait
	for n := 1; ; n++ {
		used, intact, err := readOnce(ctx, path, pages, read)
		if intact {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n == maxReads {
			if err == nil {
				err = errors.New("its writer changes it too fast")
			}
			return fmt.Errorf("%s: not read in %d attempts: %w", path, n, err)
		}
		pages = merge(pages, used)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(wait*2, longWait)
	}
}

// readOnce reports whether the outcome, an error too, is what the database really holds, and the pages that were
// used. Those of an earlier attempt are read ahead: that is quickly done, and if all of them are intact and no other
// is asked for, no writer can disturb the query any more, however long it takes.
func readOnce(ctx context.Context, path string, pages []int64, read func(*DB) error) (used []int64, intact bool, err error) {
	s, err := takeSnapshot(ctx, path)
	if errors.Is(err, errJournal) {
		return nil, false, err
	}
	if err != nil {
		return nil, true, err
	}
	defer s.close()
	if len(pages) > 0 && !s.readAhead(pages) {
		return nil, false, nil
	}
	err = s.query(ctx, read)
	return s.used, len(s.used) == 0 || s.intact(), err
}

// merge adds the pages that are new.
func merge(pages, used []int64) []int64 {
	pages = append(pages, used...)
	slices.Sort(pages)
	pages = slices.Compact(pages)
	return pages[:min(len(pages), maxAhead)]
}

// query hands the snapshot to SQLite as a file system of one file.
func (s *snapshot) query(ctx context.Context, read func(*DB) error) error {
	name, registered, err := vfs.New(s)
	if err != nil {
		return err
	}
	defer func() { _ = registered.Close() }() // all files are closed by then, so it cannot be in use
	// immutable: no locks and no journals, since nothing can change what a snapshot holds. Sorting stays in memory;
	// the schema is not trusted, since whoever writes the file could put functions into it.
	dsn := "file:" + snapshotName + "?mode=ro&immutable=1&vfs=" + name +
		"&_pragma=query_only(1)&_pragma=temp_store(memory)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	return read(&DB{db, map[string]*sql.Stmt{}})
}

// Tables returns the names of the tables, without views; none in an empty database.
func (d *DB) Tables(ctx context.Context) ([]string, error) {
	var out []string
	var name string
	err := d.Each(ctx, "select name from sqlite_schema where type = 'table'", nil, []any{&name}, func() error {
		out = append(out, name)
		return nil
	})
	return out, err
}

// Columns returns the names of a table's columns; none if there is no such table.
func (d *DB) Columns(ctx context.Context, table string) (map[string]bool, error) {
	out := map[string]bool{}
	var name string
	err := d.Each(ctx, "select name from pragma_table_info(?)", []any{table}, []any{&name}, func() error {
		out[name] = true
		return nil
	})
	return out, err
}

// Each runs a query, scans each row into dest and calls row, which must not query in its turn. The statement is kept
// for the next time. Where a value may be null, dest holds a pointer to a pointer or one of the sql.Null types.
func (d *DB) Each(ctx context.Context, query string, args, dest []any, row func() error) error {
	stmt, ok := d.statements[query]
	if !ok {
		var err error
		if stmt, err = d.sql.PrepareContext(ctx, query); err != nil {
			return err
		}
		d.statements[query] = stmt
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Open implements fs.FS for SQLite: the one file is the database; there is no journal and no log beside it.
func (s *snapshot) Open(name string) (fs.File, error) {
	if strings.TrimPrefix(name, "/") != snapshotName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return snapshotFile{io.NewSectionReader(s, 0, s.size)}, nil
}

// snapshotFile is a snapshot as an open file, and what stat(2) would say of it.
type snapshotFile struct{ *io.SectionReader }

func (f snapshotFile) Close() error               { return nil }
func (f snapshotFile) Stat() (fs.FileInfo, error) { return snapshotInfo{f.Size()}, nil }

type snapshotInfo struct{ size int64 }

func (i snapshotInfo) Name() string       { return snapshotName }
func (i snapshotInfo) Size() int64        { return i.size }
func (i snapshotInfo) Mode() fs.FileMode  { return 0o400 }
func (i snapshotInfo) ModTime() time.Time { return time.Time{} }
func (i snapshotInfo) IsDir() bool        { return false }
func (i snapshotInfo) Sys() any           { return nil }
