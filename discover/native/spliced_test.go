package native

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A spliced file has what stands in for its beginning and then what it has itself, wherever a read begins, and its lines are
// those of both.
func TestSpliced(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := func(label string, most int) []byte {
			pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "\n", "a longer piece of it", "\n\n"}), 0, most).Draw(r, label)
			return []byte(strings.Join(pieces, ""))
		}
		data, begin := text("file", 4000), text("begin", 20)
		resume := rapid.IntRange(0, len(data)).Draw(r, "resume")
		want := slices.Concat(begin, data[resume:])
		f := open(t, writeTemp(t, data))
		if rapid.Bool().Draw(r, "scratch") {
			f.Use(new(Scratch))
		}
		s := f.Spliced(begin, int64(resume))
		if s.Size() != int64(len(want)) {
			r.Fatalf("size %d, want %d", s.Size(), len(want))
		}
		from := rapid.IntRange(0, len(want)).Draw(r, "from")
		got := make([]byte, rapid.IntRange(0, len(want)-from).Draw(r, "length"))
		if n, err := s.ReadAt(got, int64(from)); err != nil || !bytes.Equal(got[:n], want[from:from+len(got)]) {
			r.Fatalf("%d bytes from %d on: %q, %v, want %q", len(got), from, got[:n], err, want[from:from+len(got)])
		}
		lines := func(read func(func(Line) bool) (bool, error)) []string { return collect(t, want, read) }
		if got := lines(func(visit func(Line) bool) (bool, error) { return s.Forward(0, 0, visit) }); !slices.Equal(got, terminated(want)) {
			r.Fatalf("forward: %q, want %q", got, terminated(want))
		}
	})
}
