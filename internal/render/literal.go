package render

import (
	"math/bits"
	"unicode/utf8"
)

// appendText appends a string literal.
func appendText(b []byte, s string) []byte { return appendRest(append(b, '"'), s) }

// appendRest appends a text and the quote at its end, where the one at its beginning was. Most texts stand as they are.
func appendRest(b []byte, s string) []byte {
	if plain := plainLen(s); plain < len(s) {
		return appendEscaped(b, s, plain)
	}
	return append(append(b, s...), '"')
}

// appendEscaped is [appendRest] for a text of which the beginning up to end stands as it is, and then something does not.
func appendEscaped(b []byte, s string, end int) []byte {
	begin := 0 // of what is not appended yet
	for end < len(s) {
		if s[end] < utf8.RuneSelf {
			b = appendSpecial(append(b, s[begin:end]...), rune(s[end]))
			end++
			begin = end
		}
		for end < len(s) && s[end] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[end:])
			if size == 1 || acts(r) {
				b = appendSpecial(append(b, s[begin:end]...), r)
				begin = end + size
			}
			end += size
		}
		end += plainLen(s[end:])
	}
	return append(append(b, s[begin:]...), '"')
}

// plainLen is how many bytes at the beginning of a text are printable ASCII that a string literal holds as it is.
func plainLen(s string) int {
	if len(s) < 8 {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
				return i
			}
		}
		return len(s)
	}
	for i := 0; i < len(s)-8; i += 8 {
		if found := special(eight(s, i)); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	last := len(s) - 8 // what comes before was looked at, and is plain
	if found := special(eight(s, last)); found != 0 {
		return last + bits.TrailingZeros64(found)/8
	}
	return len(s)
}

// eight is eight bytes of a text as a number.
func eight(s string, i int) uint64 {
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// special finds among eight bytes those that are no printable ASCII, or that a string literal does not hold as they are. They
// are looked at in one: each line finds the bytes of a kind by the top bit that a borrow or carry leaves. The lowest bit
// found is right; one above it may come of its borrow.
func special(w uint64) uint64 {
	const each, tops = 0x0101010101010101, 0x8080808080808080
	found := w | (w + each)              // above '~'
	found |= (w ^ each*2) - each*(' '+1) // below ' ', and '"', which takes the place of ' '
	found |= (w ^ each*'\\') - each
	return found & tops
}

// appendSpecial appends a character that no literal holds as it is: as encoding/json writes it, or else escaped by its
// number.
func appendSpecial(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return appendEscape(b, r)
}
