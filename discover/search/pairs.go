package search

import "encoding/binary"

// indexPair returns the first place in a text where the letter or digit second follows first, each in any case; -1 if there is none. It
// compares 32 places at a time. A search for the rarer of the two with [bytes.IndexByte] would stop at each of them.
func indexPair(text []byte, first, second byte) int {
	const (
		ones     = 0x0101010101010101
		caseless = 0x5f * ones // without the bit of the case, and without the highest bit
		highBits = 0x80 * ones
		step     = 32
	)
	firsts, seconds := ones*uint64(first), ones*uint64(second)
	rest := text
	for ; len(rest) > step; rest = rest[step:] {
		w := (*[step + 1]byte)(rest)
		// A byte of these is 0 where a pair begins. Subtracting 1 sets the highest bit of the first such byte.
		a := ((binary.LittleEndian.Uint64(w[0:]) ^ firsts) | (binary.LittleEndian.Uint64(w[1:]) ^ seconds)) & caseless
		b := ((binary.LittleEndian.Uint64(w[8:]) ^ firsts) | (binary.LittleEndian.Uint64(w[9:]) ^ seconds)) & caseless
		c := ((binary.LittleEndian.Uint64(w[16:]) ^ firsts) | (binary.LittleEndian.Uint64(w[17:]) ^ seconds)) & caseless
		d := ((binary.LittleEndian.Uint64(w[24:]) ^ firsts) | (binary.LittleEndian.Uint64(w[25:]) ^ seconds)) & caseless
		if ((a-ones)|(b-ones)|(c-ones)|(d-ones))&highBits == 0 {
			continue
		}
		if i := firstPair(w[:], first, second); i >= 0 {
			return len(text) - len(rest) + i
		}
	}
	if i := firstPair(rest, first, second); i >= 0 {
		return len(text) - len(rest) + i
	}
	return -1
}

// firstPair is indexPair for a short text.
func firstPair(text []byte, first, second byte) int {
	for i := range len(text) - 1 {
		if text[i]|0x20 == first|0x20 && text[i+1]|0x20 == second|0x20 {
			return i
		}
	}
	return -1
}
