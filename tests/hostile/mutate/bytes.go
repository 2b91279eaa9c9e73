package mutate

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// Bytes are the damages that know nothing of the format.
func Bytes() []Func {
	return []Func{flip, cut, empty, zero, remove, repeat, insert, swap, prefix, shuffle}
}

// flip changes some single bytes.
func flip(r *rand.Rand, raw []byte) ([]byte, string) {
	for range min(1+r.IntN(20), len(raw)) {
		raw[r.IntN(len(raw))] ^= byte(1 + r.IntN(255))
	}
	return raw, "flip bytes"
}

// cut ends the file early, as a crash in a write does.
func cut(r *rand.Rand, raw []byte) ([]byte, string) {
	from, _ := span(r, raw, 1)
	return raw[:from], "cut off"
}

func empty(*rand.Rand, []byte) ([]byte, string) { return nil, "empty" }

// zero writes NULs over a part, as a file system does that lost a block.
func zero(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := span(r, raw, 8192)
	clear(raw[from:to])
	return raw, "zero a block"
}

func remove(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := span(r, raw, 8192)
	return slices.Delete(raw, from, to), "remove a block"
}

func repeat(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := span(r, raw, 4096)
	return slices.Insert(raw, to, bytes.Repeat(raw[from:to], 1+r.IntN(64))...), "repeat a block"
}

func insert(r *rand.Rand, raw []byte) ([]byte, string) {
	from, _ := span(r, raw, 1)
	noise := make([]byte, 1+r.IntN(4096))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return slices.Insert(raw, from, noise...), "insert noise"
}

// swap exchanges two blocks.
func swap(r *rand.Rand, raw []byte) ([]byte, string) {
	n := min(512, len(raw)/2)
	if n == 0 {
		return raw, "swap blocks"
	}
	a, b := r.IntN(len(raw)-n), r.IntN(len(raw)-n)
	old := bytes.Clone(raw[a : a+n])
	copy(raw[a:], raw[b:b+n])
	copy(raw[b:], old)
	return raw, "swap blocks"
}

// prefix puts before the content what changes how it is read: byte order marks, magic numbers of other formats, blanks.
func prefix(r *rand.Rand, raw []byte) ([]byte, string) {
	p := pick(r, []string{
		"\xef\xbb\xbf", "\xff\xfe", "\x28\xb5\x2f\xfd", "SQLite format 3\x00", "\x1f\x8b\x08", "\x7fELF", "#!/bin/sh\n", "\n\n\n\n", "\x00",
		string(bytes.Repeat([]byte(" "), 1<<20)),
	})
	return append([]byte(p), raw...), "put a prefix before it"
}

// shuffle changes the order of blocks.
func shuffle(r *rand.Rand, raw []byte) ([]byte, string) {
	blocks := slices.Collect(slices.Chunk(raw, 512))
	r.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	return slices.Concat(blocks...), "shuffle blocks"
}
