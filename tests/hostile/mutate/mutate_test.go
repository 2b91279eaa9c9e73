package mutate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// The same numbers give the same damage, on any input, however short.
func TestTheSameSeedGivesTheSameDamage(t *testing.T) {
	inputs := [][]byte{
		nil, []byte("x"), []byte("{}\n"), []byte(`{"type":"user","cwd":"/a","timestamp":"2026-11-20T10:00:00.000Z"}` + "\n" + `{"b":[1,{"c":"d"}]}`),
		bytes.Repeat([]byte("SQLite format 3\x00\x10\x00\x01\x01"), 400), Compress([]byte("some text")),
	}
	all := slices.Concat(Bytes(), Lines(), SQLite(), WAL(), Zstd())
	for i, f := range all {
		for _, raw := range inputs {
			for seed := range uint64(5) {
				a, what := f(rand.New(rand.NewPCG(seed, 1)), bytes.Clone(raw))
				b, again := f(rand.New(rand.NewPCG(seed, 1)), bytes.Clone(raw))
				if !bytes.Equal(a, b) || what != again || what == "" {
					t.Errorf("function %d (%s), seed %d: two results of %d bytes", i, what, seed, len(raw))
				}
			}
		}
	}
}

func TestNamesFitAFileSystem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if name := Name(r); name == "" || name == "." || name == ".." || len(name) > 255 || bytes.ContainsAny([]byte(name), "/\x00") {
			t.Errorf("%q cannot be a file's name", name)
		}
	}
}
