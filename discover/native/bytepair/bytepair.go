// Package bytepair finds two neighbouring bytes in a text.
//
// [bytes.Index] compares one place of a text at a time, and a search for the rarer of two bytes with [bytes.IndexByte] stops at each of
// them. On amd64, 32 places are compared by a few instructions: without them, `search` for a rare word takes half as long again.
package bytepair

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"
)

// Pair is two neighbouring bytes. Bits that are set in Ignored may differ: 0x20 is the case of an ASCII letter.
type Pair struct {
	First, Second, Ignored byte
}

// Index returns the first place in a text where one of the pairs begins; -1 if there is none. It looks for both at the same time.
func Index(text []byte, p, q Pair) int {
	if cpu.X86.HasAVX2 && len(text) > step {
		return indexAVX2(&text[0], len(text)-1, &p, &q)
	}
	return indexWords(text, p, q)
}

// step is the number of places that are compared at a time.
const step = 32

// indexWords is Index for every processor. It compares eight places by a few operations on an integer.
func indexWords(text []byte, p, q Pair) int {
	first, second := p.repeated(), q.repeated()
	rest := text
	for ; len(rest) > step; rest = rest[step:] {
		w := (*[step + 1]byte)(rest)
		a, afterA := binary.LittleEndian.Uint64(w[0:]), binary.LittleEndian.Uint64(w[1:])
		b, afterB := binary.LittleEndian.Uint64(w[8:]), binary.LittleEndian.Uint64(w[9:])
		c, afterC := binary.LittleEndian.Uint64(w[16:]), binary.LittleEndian.Uint64(w[17:])
		d, afterD := binary.LittleEndian.Uint64(w[24:]), binary.LittleEndian.Uint64(w[25:])
		found := first.in(a, afterA) | first.in(b, afterB) | first.in(c, afterC) | first.in(d, afterD) |
			second.in(a, afterA) | second.in(b, afterB) | second.in(c, afterC) | second.in(d, afterD)
		if found&highBits == 0 {
			continue
		}
		if i := indexBytes(w[:], p, q); i >= 0 {
			return len(text) - len(rest) + i
		}
	}
	if i := indexBytes(rest, p, q); i >= 0 {
		return len(text) - len(rest) + i
	}
	return -1
}

const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// repeated is a pair with each byte eight times.
type repeated struct {
	first, second, compared uint64
}

func (p Pair) repeated() repeated {
	return repeated{ones * uint64(p.First), ones * uint64(p.Second), ones * uint64(^p.Ignored&0x7f)}
}

// in returns an integer in which none of the highest bits of the bytes is set if the pair is at no place of eight bytes and those that
// follow each.
func (r repeated) in(bytes, following uint64) uint64 {
	return ((bytes^r.first)|(following^r.second))&r.compared - ones // subtracting 1 from 0 sets the highest bit
}

// indexBytes is Index for a short text.
func indexBytes(text []byte, p, q Pair) int {
	for i := range len(text) - 1 {
		if p.beginsAt(text[i:]) || q.beginsAt(text[i:]) {
			return i
		}
	}
	return -1
}

func (p Pair) beginsAt(text []byte) bool {
	return (text[0]^p.First)&^p.Ignored == 0 && (text[1]^p.Second)&^p.Ignored == 0
}
