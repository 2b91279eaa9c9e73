package terminal

import (
	"slices"
	"testing"
)

// Keys are decoded however their bytes arrive; a lone ESC is a key only if nothing follows.
func TestDecodeKeys(t *testing.T) {
	for _, tc := range []struct {
		typed string
		want  []Key
	}{
		{"jK ?", []Key{'j', 'K', ' ', '?'}},
		{"ä漢🙂", []Key{'ä', '漢', '🙂'}},
		{"\x1b[A\x1bOB\x1b[1;5C\x1b[D", []Key{Up, Down, Right, Left}},
		{"\x1b[5~\x1b[6~\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[3~", []Key{PageUp, PageDown, Home, End, Home, End, Delete}},
		{"\x1b[200~K\r\x1b[201~", []Key{PasteBegin, 'K', Enter, PasteEnd}},
		{"\r\n\x7f\b\t", []Key{Enter, Enter, Backspace, Backspace, Tab}},
		{"\x1b[99;1R\x1b[<0;1;1M", []Key{Unknown, Unknown}},
		{"\xffx", []Key{Unknown, 'x'}},
		{"\x1bq", []Key{Escape, 'q'}},
		{"\x1b", []Key{Escape}},
		{"\x1b[", []Key{Unknown}},
		{"\xe6\xbc", []Key{Unknown, Unknown}},
	} {
		if got, rest := decodeKeys([]byte(tc.typed), true); !slices.Equal(got, tc.want) || len(rest) > 0 {
			t.Errorf("%q: %v, rest %q; want %v", tc.typed, got, rest, tc.want)
		}
		var got, list []Key
		var waiting []byte
		for _, b := range []byte(tc.typed) {
			list, waiting = decodeKeys(append(waiting, b), false)
			got = append(got, list...)
		}
		list, _ = decodeKeys(waiting, true)
		if got = append(got, list...); !slices.Equal(got, tc.want) {
			t.Errorf("%q, byte by byte: %v, want %v", tc.typed, got, tc.want)
		}
	}
}

// Any bytes are decoded to their end.
func FuzzDecodeKeys(f *testing.F) {
	f.Add([]byte("\x1b[1;5Aä\x1b"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		if _, rest := decodeKeys(typed, true); len(rest) > 0 {
			t.Errorf("%q is left of %q", rest, typed)
		}
	})
}
