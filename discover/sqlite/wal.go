package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"agentctl/discover/storage"
)

// The write-ahead log of SQLite, by its file format document (sqlite.org/fileformat2.html, section 4): a header, then
// frames of one page each. A frame is valid if it has the salts of the header and continues the chain of checksums;
// frames count up to the last one that commits a transaction.
const (
	walHeaderSize   = 32
	walFrameHeader  = 24
	walMagic        = 0x377f0682 // the lowest bit is set if checksums read big-endian words
	walVersion      = 3007000
	walScanBytes    = 256 << 10
	walCommitOffset = 4
)

// wal is the content of a write-ahead log at one moment.
type wal struct {
	file   *storage.File
	header [walHeaderSize]byte
	// frames maps a page number to the newest committed frame with it, counted from 0.
	frames map[uint32]int64
	// next is the frame after the last committed one; pages is the size of the database after that commit, in pages.
	next     int64
	pages    uint32
	pageSize int64
}

// readWAL reads a write-ahead log up to its last commit. A log without a valid header is empty, as for SQLite itself: its
// writer has just created it, or has finished with it.
func readWAL(ctx context.Context, f *storage.File) (*wal, error) {
	w := &wal{file: f, frames: map[uint32]int64{}}
	if _, err := f.ReadAt(w.header[:], 0); errors.Is(err, io.EOF) {
		return w, nil
	} else if err != nil {
		return nil, err
	}
	h := w.header[:]
	magic := binary.BigEndian.Uint32(h)
	sum := walChecksum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(h[:24])
	if magic&^1 != walMagic || binary.BigEndian.Uint32(h[4:]) != walVersion || !sum.matches(h[24:]) {
		return w, nil
	}
	if w.pageSize = int64(binary.BigEndian.Uint32(h[8:])); !validPageSize(w.pageSize) {
		return nil, fmt.Errorf("%s: page size %d", f.Path(), w.pageSize)
	}
	return w, w.scan(ctx, sum)
}

// scan follows the chain of frames to its end.
func (w *wal) scan(ctx context.Context, sum walChecksum) error {
	size := walFrameHeader + w.pageSize
	buf := make([]byte, max(walScanBytes/size, 1)*size)
	var open []uint32 // pages of the uncommitted transaction, in order
	for at := int64(0); ; at += int64(len(buf)) / size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := w.file.ReadAt(buf, walHeaderSize+at*size)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for frame := range int64(n) / size {
			b := buf[frame*size:][:size]
			if !w.validFrame(b, &sum) {
				return nil
			}
			open = append(open, binary.BigEndian.Uint32(b))
			if pages := binary.BigEndian.Uint32(b[walCommitOffset:]); pages > 0 {
				w.commit(open, pages)
				open = open[:0]
			}
		}
		if n < len(buf) {
			return nil
		}
	}
}

// validFrame reports whether a frame belongs to this log and is whole, and adds it to the checksum.
func (w *wal) validFrame(frame []byte, sum *walChecksum) bool {
	if binary.BigEndian.Uint32(frame) == 0 || !bytes.Equal(frame[8:16], w.header[16:24]) {
		return false
	}
	sum.add(frame[:8])
	sum.add(frame[walFrameHeader:])
	return sum.matches(frame[16:24])
}

func (w *wal) commit(numbers []uint32, pages uint32) {
	for _, page := range numbers {
		w.frames[page] = w.next
		w.next++
	}
	w.pages = pages
}

// offset returns where the newest content of a page is in the log.
func (w *wal) offset(page uint32) (int64, bool) {
	frame, ok := w.frames[page]
	return walHeaderSize + frame*(walFrameHeader+w.pageSize) + walFrameHeader, ok
}

// walChecksum is the running checksum of a write-ahead log.
type walChecksum struct {
	order binary.ByteOrder
	a, b  uint32
}

// add adds a multiple of 8 bytes. The race detector would check each byte of a buffer that only the caller has.
//
//go:norace
func (s *walChecksum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += s.order.Uint32(p) + s.b
		s.b += s.order.Uint32(p[4:]) + s.a
	}
}

// matches compares with a stored checksum, which is always big-endian.
func (s *walChecksum) matches(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == s.a && binary.BigEndian.Uint32(stored[4:]) == s.b
}

func validPageSize(n int64) bool { return n >= 512 && n <= 65536 && n&(n-1) == 0 }
