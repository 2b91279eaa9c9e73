// Package sqlite reads an SQLite database that another program may be writing: without a write, a lock or a new file.
//
// [Read] takes a snapshot: the pages of the database file with the committed part of its write-ahead log laid over them, all of
// one moment, read through package storage. SQLite itself reads the rows of that ([Open]): it gets the pages as a file that nobody
// can write, so that it neither locks nor creates anything.
package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"

	"agentctl/discover/storage"
)

// Bounds of a connection, whatever the database holds.
const (
	// maxHeap is the most bytes that SQLite may allocate, its cache of 2 MB included. Four connections may be open at a
	// time.
	maxHeap = 24 << 20
	// maxValue is the longest text or blob that a statement returns; longer ones are read in pieces, see [Row.Bytes].
	maxValue = 1 << 20
)

// pragmas: nothing goes to a temporary file; functions of the schema are not trusted; cells are checked before use; a
// damaged page of the schema costs only the tables in it (writable_schema). BEGIN saves each statement a transaction of
// its own.
const pragmas = `
	PRAGMA temp_store = memory;
	PRAGMA trusted_schema = off;
	PRAGMA query_only = on;
	PRAGMA cell_size_check = on;
	PRAGMA writable_schema = on;
	BEGIN;`

// DB is a database at one moment. It is read-only and used by one goroutine at a time.
//
// No method returns an error. A row or a value that cannot be read is left out, and [DB.Damage] counts it. A failure that
// is not due to the stored bytes ends all reading: later calls return nothing, and [DB.Err] returns the failure.
type DB struct {
	conn           *sqlite3.Conn
	image          *image
	budget         *budget
	statements     []*sqlite3.Stmt // all
	idleStatements map[string][]*statement
	blobs          map[column]*sqlite3.Blob

	err     error
	damages int
	damage  error
}

// Open opens the database whose size bytes are in pages. An empty one has no tables. Statements fail when ctx ends.
func Open(ctx context.Context, pages io.ReaderAt, size int64) (db *DB, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	img, err := newImage(pages, size)
	if err != nil {
		return nil, err
	}
	d := &DB{image: img, budget: &budget{Context: ctx}, idleStatements: map[string][]*statement{}, blobs: map[column]*sqlite3.Blob{}}
	readervfs.Create(img.name(), img)
	defer func() {
		err = d.explain(cmp.Or(err, recovered(recover())))
		if err != nil {
			d.Close()
			db = nil
		}
	}()
	d.resetBudget()
	if d.conn, err = sqlite3.OpenContext(sqlite3.WithMaxMemory(d.budget, maxHeap), "file:"+img.name()+"?vfs=reader&mode=ro"); err != nil {
		return nil, err
	}
	d.conn.SetInterrupt(d.budget)
	d.conn.Limit(sqlite3.LIMIT_LENGTH, maxValue)
	return d, d.conn.Exec(pragmas)
}

// Close frees what the connection holds. SQLite keeps its memory while a statement or a value is open.
func (d *DB) Close() {
	defer func() { _ = recover() }() // after an earlier panic; the connection holds nothing but memory
	readervfs.Delete(d.image.name())
	if d.conn == nil {
		return
	}
	for _, b := range d.blobs {
		_ = b.Close()
	}
	for _, s := range d.statements {
		_ = s.Close()
	}
	_ = d.conn.Close()
}

// Err returns the failure that ended the reading; nil for none.
func (d *DB) Err() error { return d.err }

// Damage returns how many rows and values could not be read so far, and the first cause.
func (d *DB) Damage() (n int, first error) { return d.damages, d.damage }

// Fail counts damage that the caller has found.
func (d *DB) Fail(damage error) { d.fail(fmt.Errorf("%w: %w", sqlite3.CORRUPT, damage)) }

// errNoRow is damage that only the caller of [Table.Row] can notice, since it has a rowid from an index.
var errNoRow = errors.New("an index names a row that is not in its table")

// fail records an error.
func (d *DB) fail(err error) {
	switch err = d.explain(err); {
	case err == nil:
	case isDamage(err):
		d.damages++
		d.damage = cmp.Or(d.damage, err)
	default:
		d.err = cmp.Or(d.err, err)
	}
}

// recovered returns a panic as an error. The library panics if a connection has used up its memory; any other panic is a
// fault of the code that was translated from C, after which the connection is unusable.
func recovered(panicked any) error {
	if panicked == nil {
		return nil
	}
	if err, ok := panicked.(error); ok && err.Error() == sqlite3.NOMEM.Error() {
		return fmt.Errorf("%w: its reading takes more than %d MB", sqlite3.NOMEM, maxHeap>>20)
	}
	return fmt.Errorf("SQLite failed: %v", panicked)
}

// try calls f, records its error or panic, and reports whether there was none.
func (d *DB) try(f func() error) bool {
	err := func() (err error) {
		defer func() { err = cmp.Or(recovered(recover()), err) }()
		return f()
	}()
	d.fail(err)
	return err == nil
}

// explain replaces "interrupted" by its cause.
func (d *DB) explain(err error) error {
	if errors.Is(err, sqlite3.INTERRUPT) {
		return cmp.Or(d.budget.cause, err)
	}
	return err
}

// isDamage reports whether the cause of an error is stored bytes, or a page that cannot be read.
func isDamage(err error) bool {
	for _, code := range []sqlite3.ErrorCode{sqlite3.CORRUPT, sqlite3.IOERR, sqlite3.NOTADB, sqlite3.NOMEM, sqlite3.TOOBIG, sqlite3.FULL} {
		if errors.Is(err, code) {
			return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
		}
	}
	return errors.Is(err, errNoRow) || errors.Is(err, errEndless)
}

// Tables returns the names of the tables that store rows: no views, no virtual tables.
func (d *DB) Tables() (names []string) {
	for r := range d.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0`) {
		names = append(names, r.Text("name", maxName))
	}
	return names
}

// maxName is the most characters of a name in a schema.
const maxName = 1000

// Query yields the rows of an SQL statement with these arguments, each an int64 or a string. A row is valid until the
// next one. Query stops at a row that cannot be read.
func (d *DB) Query(sql string, args ...any) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		s := d.statement(sql)
		if s == nil {
			return
		}
		defer s.release()
		s.bind(args)
		for s.step() && yield(&s.row) {
		}
	}
}

// Retries of [Read]. Writers checkpoint every few hundred commits and a small read takes less than a millisecond, so more
// than one retry is rare; a writer that checkpoints all the time needs many short attempts. They go on until modification
// times can be trusted, unless a journal prevents reading.
const (
	maxAttempts  = 200
	minRetryTime = storage.TimeGranularity + time.Second/2
	minBackoff   = 250 * time.Microsecond
	maxBackoff   = 4 * time.Millisecond
)

// Read calls read with the SQLite database at path as of its last committed transaction, even if a writer is active, was
// killed, or left its log without an index. It writes nothing, takes no lock, creates no file, and opens the files for
// reading only.
//
// If a checkpoint changes pages meanwhile, read is called again from the start, and must drop what it has from earlier
// calls. A database that does not exist is fs.ErrNotExist. An empty one has no tables. Another kind of file is
// [ErrNotDatabase].
func Read(ctx context.Context, path string, read func(*DB) error) error {
	var pages []int64
	wait, began := minBackoff, time.Now()
	for n := 1; ; n++ {
		used, intact, err := readOnce(ctx, path, pages, read)
		if intact {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n >= maxAttempts && (err != nil || time.Since(began) > minRetryTime) {
			if err == nil {
				err = errors.New("its writer changes it too fast")
			}
			return fmt.Errorf("%s: not read in %d attempts: %w", path, n, err)
		}
		pages = append(pages, used...)
		slices.Sort(pages)
		pages = slices.Compact(pages)
		pages = pages[:min(len(pages), maxReadAhead)]
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(wait*2, maxBackoff)
	}
}

// readOnce calls read once. It returns the pages that were used, and whether the outcome, an error included, is what the
// database really holds. The pages of an earlier attempt are read ahead, which is quick: if they are intact and no others
// are needed, a writer cannot disturb the query any more, however long it takes.
func readOnce(ctx context.Context, path string, pages []int64, read func(*DB) error) (used []int64, intact bool, err error) {
	s, err := openSnapshot(ctx, path)
	if errors.Is(err, errJournal) {
		return nil, false, err
	}
	if err != nil {
		return nil, true, err
	}
	defer s.close()
	if len(pages) > 0 {
		if intact, err := s.readAhead(pages); !intact {
			return nil, err != nil, err
		}
	}
	err = s.readRows(ctx, path, read)
	if len(s.used) == 0 {
		return s.used, true, err
	}
	intact, unknown := s.intact()
	if unknown != nil || !intact { // what was read, an error included, may be of two moments
		err = unknown
	}
	return s.used, intact || unknown != nil, err
}

// readRows opens the snapshot and calls read. A failure of the database takes precedence over the error of read.
func (s *snapshot) readRows(ctx context.Context, path string, read func(*DB) error) error {
	db, err := Open(ctx, s, s.size)
	if err != nil {
		return &fs.PathError{Op: "read", Path: path, Err: err}
	}
	defer db.Close()
	err = read(db)
	if failure := db.Err(); failure != nil {
		return &fs.PathError{Op: "read", Path: path, Err: failure}
	}
	return err
}
