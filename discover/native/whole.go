package native

import (
	"bytes"
	"errors"
	"io"
)

// wholeFile is the most bytes of a file to be read whole that are read at the first look, so that its head and its tail
// cost nothing more. So much mostly stays in a processor's own cache while it is gone over.
const wholeFile = 512 << 10

// Whole says that all of the file will be read.
func (f *File) Whole() { f.whole = true }

// AtHand reads a file that is small enough, and reports whether all of its content is in memory: then nothing is saved by
// reading less of it.
func (f *File) AtHand() (bool, error) { return f.load() }

// load reads a file that is small enough at the first look, if it has memory for that, and reports whether the content is
// at hand.
func (f *File) load() (bool, error) {
	most := int64(smallFile)
	if f.whole {
		most = wholeFile
	}
	if f.mem == nil && f.fd >= 0 && f.scratch != nil && 0 < f.size && f.size <= most {
		room := f.scratch.room(f.size, most)
		n, err := f.pread(room, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		f.mem = room[:n]
	}
	return f.mem != nil, nil
}

// forwardInPlace is Forward over content that is at hand and no longer than a line may be.
func (f *File) forwardInPlace(from, end int64, visit func(Line) bool) (whole bool, err error) {
	rest := f.mem[min(from, int64(len(f.mem))):min(end, int64(len(f.mem)))]
	for {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			return from+int64(len(rest)) >= f.size, nil
		}
		if !visit(Line{Bytes: rest[:n:n], Offset: from}) {
			return false, nil
		}
		from += int64(n) + 1
		rest = rest[n+1:]
	}
}
