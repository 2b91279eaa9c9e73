package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// packing are the commands that make compressed rollouts.
func compressionCommands() map[string]command {
	return map[string]command{
		// inflate FILE: a compressed rollout takes its place, with a gigabyte of records in the middle: it takes a while to be
		// unpacked, and little room.
		"inflate": withArgs(1, func(ts *testscript.TestScript, args []string) {
			path := ts.MkAbs(args[0])
			lines := strings.SplitAfterN(ts.ReadFile(path), "\n", 3)
			w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
			ts.Check(err)
			pack := func(text []byte) []byte { return w.EncodeAll(text, nil) }
			packed := pack([]byte(lines[0] + lines[1]))
			packed = append(packed, bytes.Repeat(pack(filler()), swollen/fillerSize)...)
			packed = append(packed, pack([]byte(lines[2]))...)
			ts.Check(w.Close())
			ts.Check(os.WriteFile(path+".zst", packed, 0o600))
			ts.Check(os.Remove(path))
		}),
	}
}

const (
	swollen    = 1 << 30
	fillerSize = 4 << 20
)

// filler are records that pack to a three-hundredth.
func filler() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < fillerSize {
		fmt.Fprintf(&b, `{"timestamp":"2026-11-20T19:00:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant",`+
			`"content":[{"type":"output_text","text":"%016x%s"}]}}`+"\n", random.Uint64(), strings.Repeat(" and so on", 500))
	}
	return b.Bytes()
}
