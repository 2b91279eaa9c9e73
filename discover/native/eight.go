package native

import (
	"encoding/binary"
	"math/bits"
)

// eight takes eight bytes at once, which short texts are looked through by: calling bytes.IndexByte for them costs more than
// its searching.
type eight uint64

const (
	ones  eight = 0x0101010101010101
	highs eight = 0x8080808080808080
)

// eightOf is the first eight bytes of b.
func eightOf(b []byte) eight { return eight(binary.LittleEndian.Uint64(b)) }

// equal marks the bytes that are c. Those behind the first one that is c may be marked wrongly.
func (e eight) equal(c byte) marks {
	zero := e ^ eight(c)*ones
	return marks((zero - ones) &^ zero & highs)
}

// foreign marks the bytes that are no ASCII.
func (e eight) foreign() marks { return marks(e & highs) }

// marks has the highest bit of each byte that is marked.
type marks uint64

// first is the number of the first marked byte, if there is one.
func (m marks) first() int { return bits.TrailingZeros64(uint64(m)) / 8 }
