package bytepair

// indexAVX2 is [Index] for a text of places+1 bytes. There are at least 32 places.
//
//go:noescape
func indexAVX2(text *byte, places int, p, q *Pair) int
