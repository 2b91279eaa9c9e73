package search

import (
	"encoding/binary"
	"iter"
)

// pairs yields the places in a text where two letters or digits may begin, in any case, or a \u escape. It compares eight places at
// a time, in one pass. A search for single bytes stops at each of them: with it, searching 1.3 GB took a third longer.
func pairs(text []byte, first, second byte) iter.Seq[int] {
	const caseBits, highBits, step = 0x2020202020202020, 0x8080808080808080, 8
	firsts, seconds, backslashes, us := repeat(first|0x20), repeat(second|0x20), repeat('\\'), repeat('u')
	isPair := func(at int) bool {
		return text[at]|0x20 == first|0x20 && text[at+1]|0x20 == second|0x20 || text[at] == '\\' && text[at+1] == 'u'
	}
	return func(yield func(int) bool) {
		at := 0
		for ; at+step < len(text); at += step {
			window := text[at : at+step+1 : at+step+1]
			these, next := binary.LittleEndian.Uint64(window), binary.LittleEndian.Uint64(window[1:])
			inPair := zeros((these|caseBits)^firsts) & zeros((next|caseBits)^seconds)
			inEscape := zeros(these^backslashes) & zeros(next^us)
			if (inPair|inEscape)&highBits == 0 {
				continue
			}
			for i := range step {
				if isPair(at+i) && !yield(at+i) {
					return
				}
			}
		}
		for ; at+1 < len(text); at++ {
			if isPair(at) && !yield(at) {
				return
			}
		}
	}
}

// repeat returns eight times the byte.
func repeat(b byte) uint64 { return uint64(b) * 0x0101010101010101 }

// zeros returns a number in which the highest bit of each byte is set that is 0 in x, and perhaps of a byte above one that is.
func zeros(x uint64) uint64 { return (x - 0x0101010101010101) &^ x }
