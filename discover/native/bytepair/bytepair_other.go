//go:build !amd64

package bytepair

func indexAVX2(*byte, int, *Pair, *Pair) int { panic("unreachable") }
