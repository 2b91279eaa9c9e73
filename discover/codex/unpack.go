package codex

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"agentctl/discover/native"
)

// A compressed rollout can only be read from its beginning. Of a long one its beginning and its end are kept, which
// is all that is looked at; what lies between is dropped as it comes.
const (
	keptHead = headLimit
	keptTail = 16 << 20
)

// unpackedLimit is the most bytes that a rollout of so many packed ones is unpacked to. Text packs to a tenth, with many
// repetitions to a hundredth; a file that grows beyond is damaged or meant to harm.
func unpackedLimit(packed int64) int64 {
	const usual, factor, most = 64 << 20, 500, 4 << 30
	return min(max(usual, factor*packed), most)
}

var errTooLong = errors.New("unpacks to more than a rollout can be")

// unpack returns the content of a compressed rollout as a file in memory, and closes the compressed one. It also
// returns how many bytes before its end are without a gap.
func unpack(f *native.File, path string) (*native.File, int64, error) {
	defer f.Close()
	d, err := zstd.NewReader(io.NewSectionReader(f, 0, f.Size()),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(128<<20))
	if err != nil {
		return nil, 0, err
	}
	defer d.Close()
	data, end, err := keep(d, keptHead, keptTail, unpackedLimit(f.Size()))
	if err != nil {
		return nil, 0, fmt.Errorf("unpacking: %w", err)
	}
	return native.Memory(path, data, f.ModTime()), int64(end), nil
}

// keep reads all of r and returns it without the lines that lie beyond its first head and before its last tail bytes.
// It also returns how many bytes of the end are without a gap: all, or tail at least. More than limit bytes are an error.
func keep(r io.Reader, head, tail int, limit int64) (kept []byte, end int, err error) {
	gap := 0 // where lines were dropped
	for total := int64(0); ; {
		kept = slices.Grow(kept, 1)
		n, err := r.Read(kept[len(kept):cap(kept)])
		kept, total = kept[:len(kept)+n], total+int64(n)
		if len(kept) > head+2*tail {
			if gap == 0 {
				gap = bytes.LastIndexByte(kept[:head], '\n') + 1
			}
			kept = append(kept[:gap], fromLine(kept[len(kept)-tail:])...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return kept, len(kept) - gap, nil
		case err != nil:
			return nil, 0, err
		case total > limit:
			return nil, 0, errTooLong
		}
	}
}

// fromLine returns b from its first whole line on.
func fromLine(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] }
