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

// Retries of [ReadDB]. Writers checkpoint every few hundred commits and a small read takes less than a millisecond, so
// two are rare; a writer that checkpoints all the time needs many short tries. They go on until the time of a last change can be
// trusted, unless a journal is in the way.
const (
	maxAttempts  = 200
	minRetryTime = fsread.TimeGranularity + time.Second/2
	minBackoff   = 250 * time.Microsecond
	maxBackoff   = 4 * time.Millisecond
)

// ReadDB runs read on the SQLite database at path as of its last committed transaction, whether or not a writer is
// at work, was killed, or left its log without an index. It writes nothing, takes no lock, creates no file, and opens
// the files for reading only.
//
// Where a checkpoint changed pages meanwhile, read is run again from the start: it must begin by forgetting what an
// earlier run gave it. A database that does not exist is fs.ErrNotExist, an empty one has no tables, and
// [ErrNotDatabase] is returned for another sort of file.
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

// readOnce reports whether the outcome, an error too, is what the database really holds, and the pages that were
// used. Those of an earlier attempt are read ahead: that is quickly done, and if all of them are intact and no other
// is asked for, no writer can disturb the query any more, however long it takes.
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
	if unknown != nil || !intact { // what was read, an error too, may be of no one moment
		err = unknown
	}
	return s.used, intact || unknown != nil, err
}

// mergePages adds the pages that are new.
func mergePages(pages, used []int64) []int64 {
	pages = append(pages, used...)
	slices.Sort(pages)
	pages = slices.Compact(pages)
	return pages[:min(len(pages), maxReadAhead)]
}

// readRows opens the snapshot and hands it to read. A failure of the database counts more than what read made of it.
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
