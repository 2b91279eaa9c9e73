package generate

import (
	"bytes"
	"math/rand/v2"
)

// prose is a block of made-up words to cut texts from. It is already escaped for use inside a JSON string.
type prose struct{ block []byte }

func newProse(seed uint64) prose {
	words := []string{
		"the", "parser", "returns", "an", "empty", "slice", "when", "its", "input", "ends", "early", "so", "tests",
		"fail", "at", "line", "42", "because", "every", "caller", "expects", "one", "record", "func", "Decode(b []byte)",
		"error", "{", "}", "if", "err != nil", "src/store/index.go:118:", "cache", "miss", "retry", "with", "a", "larger",
		"buffer", "größer", "日本", "naïve", `\"quoted\"`, `\\n`, "diff --git", "+++", "---", "@@ -1,7 +1,9 @@", "ok",
	}
	r := rand.New(rand.NewPCG(seed, proseStream))
	var block []byte
	for len(block) < 256<<10 {
		block = append(block, words[r.IntN(len(words))]...)
		if r.IntN(12) == 0 {
			block = append(block, `\n`...)
		} else {
			block = append(block, ' ')
		}
	}
	return prose{block}
}

// proseStream tells the prose's stream of random numbers from those of the sessions.
const proseStream = 1 << 63

// text cuts about n bytes at a random place, never within an escape or a character.
func (p prose) text(r *rand.Rand, n int) []byte {
	n = min(n, len(p.block)/2)
	from := r.IntN(len(p.block) - n)
	to := from + n
	return p.block[p.boundary(from):p.boundary(to)]
}

// prompt is a text as agents store what a person typed: without white space around it.
func (p prose) prompt(r *rand.Rand, n int) []byte { return bytes.TrimSpace(p.text(r, n)) }

// instructions are what an agent tells its model in one of two versions: always the same.
func (p prose) instructions(newer bool) []byte {
	const size = 21_000 // as in 0.169
	from := 0
	if newer {
		from = size
	}
	return p.block[p.boundary(from):p.boundary(from+size)]
}

// boundary moves on to the next start of a word.
func (p prose) boundary(i int) int {
	for i > 0 && i < len(p.block) && p.block[i-1] != ' ' {
		i++
	}
	return i
}
