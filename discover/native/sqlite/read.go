package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"agentctl/discover/native/fsread"
)

// Retries of [Read]. Writers checkpoint every few hundred commits and a small read takes less than a millisecond, so more
// than one retry is rare; a writer that checkpoints all the time needs many short attempts. They go on until modification
// times can be trusted, unless a journal prevents reading.
const (
	maxAttempts  = 200
	minRetryTime = fsread.TimeGranularity + time.Second/2
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
		pages = mergePages(pages, used)
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

// mergePages adds the new pages.
func mergePages(pages, used []int64) []int64 {
	pages = append(pages, used...)
	slices.Sort(pages)
	pages = slices.Compact(pages)
	return pages[:min(len(pages), maxReadAhead)]
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
