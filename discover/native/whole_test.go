package native

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// A file that is to be read whole gives the same lines as any other, whatever its length, from any byte on and up to any
// limit.
func TestWholeFilesGiveTheSameLines(t *testing.T) {
	var scratch Scratch
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 10, smallFile, smallFile + 1, wholeFile - 1, wholeFile, wholeFile + 1, 3 * wholeFile} {
		data := bytes.Repeat([]byte("a line\n"), size/7+1)[:size]
		for i := range data {
			if random.IntN(50) == 0 {
				data[i] = "\n "[random.IntN(2)]
			}
		}
		path := writeTemp(t, data)
		plain, whole := open(t, path), open(t, path)
		whole.Use(&scratch)
		whole.Whole()
		for _, reach := range [][2]int64{{0, 0}, {0, 1}, {3, 0}, {3, 100}, {int64(size / 2), int64(size)}, {int64(size), 0}, {int64(size) + 5, 7}} {
			lines := func(f *File) (out []string, all bool) {
				all, err := f.Forward(reach[0], reach[1], func(l Line) bool {
					if got := data[l.Offset : int(l.Offset)+len(l.Bytes)]; !bytes.Equal(got, l.Bytes) {
						t.Fatalf("at offset %d there is %q, not %q", l.Offset, got, l.Bytes)
					}
					out = append(out, string(l.Bytes))
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				return out, all
			}
			want, wantAll := lines(plain)
			if got, all := lines(whole); !slices.Equal(got, want) || all != wantAll {
				t.Errorf("%d bytes, from %d, at most %d: %d lines (all: %v), want %d (%v)", size, reach[0], reach[1], len(got), all, len(want), wantAll)
			}
		}
	}
}

// It is read once.
func TestWholeFileIsReadOnce(t *testing.T) {
	content := strings.Repeat("a line\n", wholeFile/len("a line\n"))
	path := writeTemp(t, []byte(content))
	f := open(t, path)
	f.Use(new(Scratch))
	f.Whole()
	first := false
	if _, err := f.Forward(0, 0, func(Line) bool { first = true; return false }); err != nil || !first {
		t.Fatal(first, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if whole, err := f.Forward(0, 0, func(l Line) bool { b.Write(l.Bytes); b.WriteByte('\n'); return true }); err != nil || !whole {
		t.Fatal(whole, err)
	}
	if b.String() != content {
		t.Errorf("%d bytes, not the %d that it had", b.Len(), len(content))
	}
}
