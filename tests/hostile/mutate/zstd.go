package mutate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Compress returns raw as one zstd frame.
func Compress(raw []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	defer w.Close()
	return w.EncodeAll(raw, nil)
}

// Zstd are the damages of a compressed file.
func Zstd() []Func {
	return []Func{flip, cut, bomb, bomb, window, skippable, frames, contentSize, empty, zero}
}

// bomb appends frames that are some kilobytes and become hundreds of megabytes, of one line or of many.
func bomb(r *rand.Rand, raw []byte) ([]byte, string) {
	text := pick(r, []string{"x", "{}\n", "\n", `{"type":"event_msg","payload":{}}` + "\n"})
	frame := Compress(bytes.Repeat([]byte(text), (4<<20)/len(text)))
	return append(raw, bytes.Repeat(frame, 16<<r.IntN(5))...), "zstd bomb"
}

// window states the largest window there is: a reader that believes it asks for that much memory.
func window(_ *rand.Rand, raw []byte) ([]byte, string) {
	if len(raw) < 6 {
		return raw, "zstd window"
	}
	return slices.Concat(raw[:4], []byte{0x00, 0xff}, raw[6:]), "zstd window"
}

// skippable puts a frame before the content that is to be left out, and whose length may be a lie.
func skippable(r *rand.Rand, raw []byte) ([]byte, string) {
	frame := []byte{0x50, 0x2a, 0x4d, 0x18}
	frame = binary.LittleEndian.AppendUint32(frame, pick(r, []uint32{0, 4, 0xffffffff, 1 << 30}))
	return slices.Concat(frame, []byte("skip"), raw), "zstd skippable frame"
}

// frames repeats the whole, or puts empty frames before it.
func frames(r *rand.Rand, raw []byte) ([]byte, string) {
	if r.IntN(2) == 0 {
		return slices.Concat(raw, raw), "zstd frame twice"
	}
	return slices.Concat(bytes.Repeat(Compress(nil), 10_000), raw), "zstd empty frames"
}

// contentSize states how long the content is, wrongly.
func contentSize(r *rand.Rand, raw []byte) ([]byte, string) {
	if len(raw) < 16 {
		return raw, "zstd content size"
	}
	raw[4] |= 0xc0
	field(r, raw, 6, 4)
	return raw, "zstd content size"
}
