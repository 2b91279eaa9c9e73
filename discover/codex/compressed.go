package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"agentctl/discover/storage"
)

// A compressed rollout can only be read from its beginning. These are the bytes that are kept of a long one's beginning and end; nothing
// else is read. The middle is dropped while it is decompressed.
const (
	keptHead = headLimit
	keptTail = 16 << 20
)

// decompressedLimit is the most bytes that a file of so many compressed bytes may have. Text compresses to a tenth, with many repetitions
// to a hundredth. A file that exceeds the limit is damaged or an attack.
func decompressedLimit(packed int64) int64 {
	const usual, factor, most = 64 << 20, 500, 4 << 30
	return min(max(usual, factor*packed), most)
}

// gap is the place where lines of a long compressed rollout were dropped.
type gap struct {
	start int64 // the offset in the kept bytes of the first line after it
	size  int64 // bytes that were dropped; 0: none
}

// original is the offset in the whole file of an offset in the kept bytes.
func (g gap) original(at int64) int64 {
	if at >= g.start {
		return at + g.size
	}
	return at
}

// kept is the offset in the kept bytes of an offset in the whole file, or of the nearest kept byte.
func (g gap) kept(place int64) int64 {
	return max(min(place, g.start), place-g.size)
}

// windowLimit is the most bytes back that a compressed rollout may refer to, and that are buffered for it. Every decoder accepts this
// size (RFC 8878, 3.1.1.1.2); Codex uses less.
const windowLimit = 8 << 20

// openRollout opens a rollout, compressed or not, for the call of ctx.
func openRollout(ctx context.Context, path string) (f *storage.File, g gap, err error) {
	f, err = openWith(ctx, path, func(r io.Reader, packed int64) (data []byte, err error) {
		data, g, err = readHeadAndTail(ctx, r, keptHead, keptTail, decompressedLimit(packed))
		return data, err
	})
	return f, g, err
}

// openHead is openRollout for a caller that reads no more than the first n bytes. Only these are decompressed.
func openHead(ctx context.Context, path string, n int64) (*storage.File, error) {
	return openWith(ctx, path, func(r io.Reader, _ int64) ([]byte, error) { return storage.ReadAll(io.LimitReader(r, n), n) })
}

// openWith opens a rollout. Of a compressed one it returns, as a file in memory, what read takes from the unpacked bytes. Of all readers of a
// call, only one at a time may have such a file open.
func openWith(ctx context.Context, path string, read func(r io.Reader, packed int64) ([]byte, error)) (*storage.File, error) {
	f, err := storage.Open(ctx, path)
	if err != nil || !strings.HasSuffix(path, compressedExt) {
		return f, err
	}
	defer f.Close()
	release, err := f.AcquireLarge()
	if err != nil {
		return nil, err
	}
	var data []byte
	d, err := zstd.NewReader(io.NewSectionReader(f, 0, f.Size()),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowLimit))
	if err == nil {
		defer d.Close()
		data, err = read(d, f.Size())
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return f.WithContent(data, release), nil
}

// readHeadAndTail reads all of r and returns it without the lines between its first head and its last tail bytes. More than limit bytes
// are an error. So is the end of ctx: reads of the compressed file end with it as well, but a few compressed bytes can become gigabytes.
func readHeadAndTail(ctx context.Context, r io.Reader, head, tail int, limit int64) (kept []byte, g gap, err error) {
	for total := int64(0); ; {
		if len(kept) == cap(kept) { // grow to no more than is kept before the middle is dropped
			const least, piece = 64 << 10, 1 << 20
			kept = slices.Grow(kept, min(max(len(kept), least), max(head+2*tail-len(kept), 0)+piece))
		}
		n, err := r.Read(kept[len(kept):cap(kept)])
		kept, total = kept[:len(kept)+n], total+int64(n)
		if len(kept) > head+2*tail {
			if g.size == 0 {
				g.start = int64(bytes.LastIndexByte(kept[:head], '\n') + 1)
			}
			end := kept[len(kept)-tail:]
			kept = append(kept[:g.start], end[bytes.IndexByte(end, '\n')+1:]...) // from its first complete line on
			g.size = total - int64(len(kept))
		}
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case errors.Is(err, io.EOF):
			return kept, g, nil
		case err != nil:
			return nil, gap{}, err
		case total > limit:
			return nil, gap{}, errors.New("the unpacked rollout is too long")
		}
	}
}
