package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"agentctl/discover/storage"
)

// ErrNotDatabase is returned for a file that is not an SQLite database.
var ErrNotDatabase = errors.New("not an SQLite database")

// errJournal: a writer in rollback journal mode died, or is in the middle of a commit. What the database holds can be
// found only by writing to it.
var errJournal = errors.New("its rollback journal has an unfinished transaction")

// maxReadAhead is the most pages that are read ahead: 16 MB of the usual size.
const maxReadAhead = 4096

const sqliteMagic = "SQLite format 3\x00"

// snapshot is a database overlaid with the committed part of its write-ahead log, as of the moment it was opened. It is
// read with pread alone: nothing is locked, mapped, created or opened for writing, so the reader never blocks a writer.
// In exchange, a writer may change pages meanwhile; [snapshot.intact] detects that.
type snapshot struct {
	ctx      context.Context // of the call
	path     string          // links resolved, since SQLite puts the log next to the file itself
	db       *storage.File
	wal      *wal // nil if there is none
	pageSize int64
	size     int64
	taken    time.Time
	// used are the pages read so far, by offset; ahead are pages that were read before they were requested.
	used  []int64
	ahead map[int64][]byte
}

// openSnapshot opens the database at path. An empty database has size 0.
func openSnapshot(ctx context.Context, path string) (*snapshot, error) {
	// The database is opened before the log: what a checkpoint changes in it from now on shows in its times.
	s, err := openDatabase(ctx, path)
	if err != nil {
		return nil, err
	}
	if err = s.openWAL(ctx); err == nil {
		err = s.readSizes()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func openDatabase(ctx context.Context, path string) (*snapshot, error) {
	real, err := storage.EvalSymlinks(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &snapshot{ctx: ctx, path: real, taken: time.Now()}
	s.db, err = storage.Open(ctx, real)
	return s, err
}

func (s *snapshot) openWAL(ctx context.Context) error {
	log, err := storage.Open(s.ctx, s.path+"-wal")
	if storage.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.wal, err = readWAL(ctx, log); err != nil {
		_ = log.Close()
	}
	return err
}

// readSizes sets the page size and the size of the database, from the log if that has committed frames.
func (s *snapshot) readSizes() error {
	var head [headerSize]byte
	n, err := s.db.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n > 0 && (n < len(head) || string(head[:len(sqliteMagic)]) != sqliteMagic) {
		return ErrNotDatabase
	}
	if n > 0 {
		s.pageSize, s.size = headerPageSize(&head), s.db.Size()
	}
	if s.wal != nil && s.wal.next > 0 {
		if n > 0 && s.wal.pageSize != s.pageSize {
			return fmt.Errorf("%w: page sizes %d and, in its log, %d", ErrNotDatabase, s.pageSize, s.wal.pageSize)
		}
		s.pageSize, s.size = s.wal.pageSize, int64(s.wal.pages)*s.wal.pageSize
	}
	if s.size > 0 && !validPageSize(s.pageSize) {
		return fmt.Errorf("%w: page size %d", ErrNotDatabase, s.pageSize)
	}
	return s.checkJournal()
}

// checkJournal returns errJournal if the database has a live rollback journal.
func (s *snapshot) checkJournal() error {
	j, err := storage.Open(s.ctx, s.path+"-journal")
	if storage.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer j.Close()
	// A journal is live as long as its header is not zeroed or cut off.
	var head [8]byte
	if n, _ := j.ReadAt(head[:], 0); n == len(head) && head != [8]byte{} {
		return errJournal
	}
	return nil
}

// ReadAt implements io.ReaderAt over the committed pages.
func (s *snapshot) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		if off+int64(n) >= s.size {
			return n, io.EOF
		}
		var got int
		got, err = s.readPage(p[n:], off+int64(n))
		n += got
	}
	return n, err
}

// readPage reads from an offset on, to the end of its page at most.
func (s *snapshot) readPage(p []byte, at int64) (int, error) {
	start := at - at%s.pageSize
	p = p[:min(int64(len(p)), start+s.pageSize-at)]
	if page, ok := s.ahead[start]; ok {
		return copy(p, page[at-start:]), nil
	}
	if len(s.used) < maxReadAhead {
		s.used = append(s.used, start)
	}
	file, from := s.locate(start)
	return file.ReadAt(p, from+at-start)
}

// locate returns the file and the offset of the newest content of the page at an offset.
func (s *snapshot) locate(page int64) (f *storage.File, off int64) {
	if s.wal != nil {
		if off, ok := s.wal.offset(uint32(page/s.pageSize) + 1); ok {
			return s.wal.file, off
		}
	}
	return s.db, page
}

// readAhead reads pages in advance, and reports whether they are intact, or why that is unknown.
func (s *snapshot) readAhead(pages []int64) (bool, error) {
	ahead := make(map[int64][]byte, len(pages))
	for _, start := range pages {
		page := make([]byte, s.pageSize)
		if start%s.pageSize != 0 || start >= s.size {
			continue
		}
		if _, err := s.readPage(page, start); err == nil {
			ahead[start] = page
		}
	}
	s.ahead, s.used = ahead, nil
	return s.intact()
}

// intact reports whether everything read so far belongs to the moment at which the snapshot was opened. The error is why
// that is unknown: files that exist but cannot be opened, for example because the process may open no more.
//
// Pages in the log stay unchanged until a writer restarts the log, which changes its header. Pages in the database change
// only by a checkpoint. A checkpoint of frames that the snapshot knows changes no page that it reads from the database,
// so only a checkpoint of later frames matters. Without a log, a writer changes the modification time of the database
// first.
func (s *snapshot) intact() (bool, error) {
	db, err := storage.Open(s.ctx, s.path)
	if err != nil {
		return errUnlessChanged(err)
	}
	defer db.Close()
	if !db.SameFile(s.db) {
		return false, nil
	}
	if err := s.checkJournal(); err != nil {
		return errUnlessChanged(err)
	}
	still := db.ModTime().Equal(s.db.ModTime()) && db.Size() == s.db.Size() && s.timeTrusted()
	log, err := storage.Open(s.ctx, s.path+"-wal")
	if storage.IsNotExist(err) {
		return s.wal == nil && still, nil
	}
	if err != nil {
		return false, err
	}
	defer log.Close()
	if s.wal == nil { // created since; none of it is in the database yet
		return still, nil
	}
	var header [walHeaderSize]byte
	if _, err := log.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if !log.SameFile(s.wal.file) || header != s.wal.header {
		return false, nil
	}
	// Without a commit in the log, the size is that of the database when it was opened; a checkpoint of the previous log
	// may have made the database larger since.
	if still || s.wal.next == 0 {
		return still, nil
	}
	moved, err := s.checkpointedFrames()
	return err == nil && moved <= s.wal.next, err
}

// errUnlessChanged distinguishes what a writer has done since, or is doing (no error), from a file that cannot be read.
func errUnlessChanged(err error) (intact bool, unknown error) {
	if storage.IsNotExist(err) || errors.Is(err, errJournal) {
		return false, nil
	}
	return false, err
}

// timeTrusted reports whether a change of the database after the snapshot shows in its modification time: kernels before
// 6.13 count in ticks of up to 10 ms, so that two changes may have the same time.
func (s *snapshot) timeTrusted() bool {
	const ticks = 50 * time.Millisecond
	return storage.UnchangedFor(s.taken, s.db.ModTime()) > ticks
}

// checkpointedFrames returns the number of frames that checkpoints have copied, or started to copy, into the database
// since the log was restarted. SQLite keeps it in the shared index of the log: the header with the log's salts twice (48
// bytes each, salts at 32), then the checkpoint state (the attempted frame at 128), in the machine's byte order
// (sqlite.org/walformat.html).
func (s *snapshot) checkpointedFrames() (int64, error) {
	const unknown = 1 << 62
	index, err := storage.Open(s.ctx, s.path+"-shm")
	if storage.IsNotExist(err) {
		return unknown, nil
	}
	if err != nil {
		return unknown, err
	}
	defer index.Close()
	var b [136]byte
	if _, err := index.ReadAt(b[:], 0); err != nil || !bytes.Equal(b[:48], b[48:96]) {
		return unknown, nil
	}
	if !bytes.Equal(b[32:40], s.wal.header[16:24]) {
		return unknown, nil
	}
	return int64(binary.NativeEndian.Uint32(b[128:])), nil
}

func (s *snapshot) close() {
	if s.db != nil {
		_ = s.db.Close()
	}
	if s.wal != nil {
		_ = s.wal.file.Close()
	}
}
