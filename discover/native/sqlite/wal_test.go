package sqlite

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// The checksum is that of SQLite's file format, section 4.2: two sums, each of which takes in the other.
func TestWALChecksum(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		source := rand.New(rand.NewPCG(1, 2))
		got := walChecksum{bigEndian: order == binary.BigEndian}
		var a, b uint32
		for length := 0; length <= 4096; length += 8 {
			p := make([]byte, length)
			for i := range p {
				p[i] = byte(source.Uint32())
			}
			for i := 0; i < length; i += 8 {
				a += order.Uint32(p[i:]) + b
				b += order.Uint32(p[i+4:]) + a
			}
			if got.add(p); got.a != a || got.b != b {
				t.Fatalf("%v, %d bytes: %x %x, want %x %x", order, length, got.a, got.b, a, b)
			}
		}
	}
}
