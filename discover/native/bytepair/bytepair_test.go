package bytepair

import (
	"math/rand/v2"
	"testing"
)

// Every way of searching finds the first pair, wherever it is in a text of any length, and reads nothing behind the text.
func TestIndex(t *testing.T) {
	found := map[bool]int{}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := make([]byte, r.IntN(200), 202)
		letters := []string{"xX", "xy0\\u\xd9\xf8\x18", "abcdefgh"}[r.IntN(3)]
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		if len(text) > 1 && r.IntN(2) == 0 {
			copy(text[r.IntN(len(text)-1):], []string{"xY", `\u`}[r.IntN(2)])
		}
		copy(text[len(text):cap(text)], "xy") // behind the text
		for _, ignored := range []byte{0, 0x20} {
			p, q := Pair{'x', 'y', ignored}, Pair{'\\', 'u', 0}
			want := indexBytes(text, p, q)
			found[want >= 0]++
			for name, index := range map[string]func([]byte, Pair, Pair) int{"Index": Index, "indexWords": indexWords} {
				if got := index(text, p, q); got != want {
					t.Fatalf("%s of %v, %v in %q: %d, want %d", name, p, q, text, got, want)
				}
			}
		}
	}
	if found[true] < 5_000 || found[false] < 5_000 {
		t.Errorf("pairs in some texts only: %v", found)
	}
}
