package discover

// numbered is a number with the place of what it stands for.
type numbered struct {
	number uint64
	from   int
}

// byNumber brings numbers into their order, the least first; equal ones keep the order they have. Thousands are not compared
// with each other but dealt out by one byte after the other, the lowest first. A byte that is the same in all says nothing.
func byNumber(list []numbered) []numbered {
	var differ uint64
	for i := range list {
		differ |= list[i].number ^ list[0].number
	}
	dealt := make([]numbered, len(list))
	for shift := 0; differ>>shift != 0; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
		var next [256]int // by the byte, where the next number with it belongs
		for i := range list {
			next[byte(list[i].number>>shift)]++
		}
		at := 0
		for b, n := range next {
			next[b], at = at, at+n
		}
		for _, e := range list {
			b := byte(e.number >> shift)
			dealt[next[b]] = e
			next[b]++
		}
		list, dealt = dealt, list
	}
	return list
}
