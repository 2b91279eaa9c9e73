package discover

// repeated tells which of many numbers are there more than once: all that are, and by chance a few others. Each number has one
// of sixteen times as many places, and each place two bits.
type repeated struct {
	met, again []uint64
	shift      int
}

func newRepeated(n int) *repeated {
	r := &repeated{shift: 64 - 6}
	words := 1
	for ; words*64 < n*16; words *= 2 {
		r.shift--
	}
	r.met, r.again = make([]uint64, words), make([]uint64, words)
	return r
}

func (r *repeated) add(number uint64) {
	word, bit := r.place(number)
	r.again[word] |= r.met[word] & bit
	r.met[word] |= bit
}

func (r *repeated) has(number uint64) bool {
	word, bit := r.place(number)
	return r.again[word]&bit != 0
}

func (r *repeated) place(number uint64) (word, bit uint64) {
	const spread = 0x9e3779b97f4a7c15 // the usual odd number for this: the top bits of the product depend on all bits
	place := number * spread >> r.shift
	return place / 64, 1 << (place % 64)
}
